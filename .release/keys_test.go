package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aead.dev/minisign"
)

// throwAwayKey is a new key for this run of the tests.
var throwAwayKey = sync.OnceValue(func() *minisign.PrivateKey { return newKey() })

func newKey() *minisign.PrivateKey {
	_, key, err := minisign.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	return &key
}

// checkSignatures verifies the list by minisign, if it is installed, and the DSSE signature of the in-toto statement.
func checkSignatures(t *testing.T, dist string, key *minisign.PrivateKey, sums string) {
	t.Helper()
	list := filepath.Join(dist, "SHA256SUMS")
	public := key.Public().(minisign.PublicKey)
	if !minisign.Verify(public, []byte(sums), []byte(read(t, list+".minisig"))) || !strings.Contains(read(t, list+".minisig"), "trusted comment: tfdeps v0.1.0\n") {
		t.Error("the signature doesn't hold, or names no version")
	}
	if program, err := exec.LookPath("minisign"); err == nil {
		if out, err := exec.Command(program, "-Vm", list, "-P", public.String()).CombinedOutput(); err != nil {
			t.Errorf("minisign: %v: %s", err, out)
		}
	}
	var envelope struct {
		PayloadType string
		Payload     []byte
		Signatures  []struct {
			KeyID string
			Sig   []byte
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dist, "tfdeps_0.1.0.intoto.jsonl"))), &envelope); err != nil || len(envelope.Signatures) != 1 {
		t.Fatalf("%v: %+v", err, envelope)
	}
	signed := fmt.Sprintf("DSSEv1 %d %s %d %s", len(envelope.PayloadType), envelope.PayloadType, len(envelope.Payload), envelope.Payload)
	raw, err := base64.StdEncoding.DecodeString(public.String())
	if err != nil || !ed25519.Verify(raw[10:], []byte(signed), envelope.Signatures[0].Sig) {
		t.Errorf("%v: the statement isn't signed", err)
	}
	var statement struct {
		Type          string `json:"_type"`
		PredicateType string
		Subject       []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct {
			BuildDefinition struct {
				ResolvedDependencies []struct {
					Digest map[string]string
				}
			}
		}
	}
	if err := json.Unmarshal(envelope.Payload, &statement); err != nil || statement.Type != "https://in-toto.io/Statement/v1" || statement.PredicateType != "https://slsa.dev/provenance/v1" {
		t.Fatalf("%v: %s", err, envelope.Payload)
	}
	told := ""
	for _, s := range statement.Subject {
		told += s.Digest["sha256"] + "  " + s.Name + "\n"
	}
	equal(t, told, sums, "what the statement is about")
	if from := statement.Predicate.BuildDefinition.ResolvedDependencies; len(from) != 1 || len(from[0].Digest["gitCommit"]) != 40 {
		t.Errorf("the statement says that it is made of %v", from)
	}
}

// checkPackages installs and removes the packages of this platform, by the installed package managers.
func checkPackages(t *testing.T, dist string) {
	t.Helper()
	if here.os != "linux" || os.Geteuid() != 0 {
		return
	}
	base := filepath.Join(dist, baseName("v0.1.0", here))
	checkAPK(t, base+".apk")
	for format, call := range map[string]func(root string) (install, remove []string){
		"deb": func(root string) (install, remove []string) {
			dpkg := []string{"dpkg", "--root=" + root, "--force-not-root", "--log=" + filepath.Join(root, "log")}
			return append(dpkg[:4:4], "--install", base+".deb"), append(dpkg[:4:4], "--purge", "tfdeps")
		},
		"rpm": func(root string) (install, remove []string) {
			return []string{"rpm", "--root", root, "--install", "--nodeps", base + ".rpm"}, []string{"rpm", "--root", root, "--erase", "tfdeps"}
		},
	} {
		if _, err := exec.LookPath(format[:1] + map[string]string{"deb": "pkg", "rpm": "pm"}[format]); err != nil {
			t.Logf("there is no program for %s", format)
			continue
		}
		root := t.TempDir()
		for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/rpm"} {
			succeed(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		}
		write(t, filepath.Join(root, "var/lib/dpkg/status"), "")
		install, remove := call(root)
		if out, err := exec.Command(install[0], install[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", format, err, out)
			continue
		}
		for _, name := range []string{"usr/bin/tfdeps", "usr/share/man/man1/tfdeps.1", "usr/share/bash-completion/completions/tfdeps", "usr/share/doc/tfdeps/licences.txt"} {
			if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Size() == 0 || strings.HasPrefix(name, "usr/bin") != (info.Mode().Perm() == 0o755) {
				t.Errorf("%s: %s: %v", format, name, err)
			}
		}
		if out, err := exec.Command(filepath.Join(root, "usr/bin/tfdeps"), "completion", "bash").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("complete bash")) {
			t.Errorf("%s: %v: %s", format, err, out)
		}
		if out, err := exec.Command(remove[0], remove[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", format, err, out)
		}
		if _, err := os.Stat(filepath.Join(root, "usr/bin/tfdeps")); err == nil {
			t.Errorf("%s: the program is still there", format)
		}
	}
}

func TestReadKey_TakesKeysWithoutAPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := newKey()
	plain := get(key.MarshalText())(t)
	locked := get(minisign.EncryptKey("x", *key))(t)
	for name, c := range map[string]struct {
		text []byte
		want string
	}{"plain": {plain, ""}, "locked": {locked, "has a password"}, "none": {[]byte("x"), "has no secret key"}} {
		file := filepath.Join(dir, name)
		write(t, file, c.text)
		got, err := readKey(file)
		if refused(t, err, c.want, name); err == nil {
			equal(t, got.Equal(*key), true)
		}
	}
	_, err := readKey(filepath.Join(dir, "missing"))
	refused(t, err, "missing")
}
