package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
)

// releaseServer serves a release whose program is a script that prints its arguments. damage may change the served
// files.
func releaseServer(t *testing.T, version string, damage func(name string, content []byte) []byte) string {
	t.Helper()
	dist, key := t.TempDir(), throwAwayKey()
	script := []byte("#!/bin/sh\necho \"tfdeps $*\" >>\"${CALLS:-/dev/null}\"\n[ \"$2\" != key ] || printf 'path=/cache\\nkey=k\\nrestore-keys=r\\n'\n")
	for _, p := range []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}} {
		files := []file{{name: p.program(), content: script, executable: true}, {name: "LICENSE", content: []byte("x")}}
		succeed(t, writeArchive(filepath.Join(dist, archiveName(version, p)), baseName(version, p), files, time.Unix(1e9, 0)))
	}
	sums := get(checksums(dist))(t)
	succeed(t, writeFile(filepath.Join(dist, "SHA256SUMS"), []byte(sums)))
	succeed(t, signList(options{version: version, key: key}, dist, sums))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/"+version+"/")
		content, err := os.ReadFile(filepath.Join(dist, filepath.Base(name)))
		if err != nil || name != filepath.Base(name) {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(damage(name, content))
	}))
	t.Cleanup(server.Close)
	filled := get(installScript("install.sh", options{version: version, downloads: server.URL, key: key}))(t)
	succeed(t, writeFile(filepath.Join(dist, "install.sh"), filled))
	return server.URL
}

func asItIs(_ string, content []byte) []byte { return content }

// toolsWithout returns a directory for PATH with the programs that the script may call, without some
// and with own ones.
func toolsWithout(t *testing.T, without []string, own map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"awk", "chmod", "cp", "curl", "cat", "cut", "grep", "gzip", "head", "minisign", "mkdir", "mktemp", "mv", "od", "openssl", "rm", "sed", "sh", "sha256sum", "shasum", "tail", "tar", "tr", "uname", "unzip", "wget"} {
		path, err := exec.LookPath(name)
		if err != nil || slices.Contains(without, name) || own[name] != "" {
			continue
		}
		succeed(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	for name, script := range own {
		succeed(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	return dir
}

// install runs the script with PATH and arguments, in a new home, and returns its output.
func install(t *testing.T, path string, args ...string) (out string, err error) {
	t.Helper()
	home := t.TempDir()
	script := get(filepath.Abs("install.sh"))(t)
	temporary := filepath.Join(home, "tmp")
	succeed(t, os.Mkdir(temporary, 0o755))
	if !slices.Contains(args, "-k") {
		args = append([]string{"-k", publicText(throwAwayKey())}, args...)
	}
	cmd := exec.Command(filepath.Join(path, "sh"), append([]string{script}, args...)...)
	cmd.Env = []string{"PATH=" + path, "HOME=" + home, "TMPDIR=" + temporary}
	printed, err := cmd.CombinedOutput()
	equal(t, len(get(os.ReadDir(temporary))(t)), 0, "what the script left behind")
	return string(printed), err
}

// TestInstall_FollowsNoRedirectFromHTTPS: an attacker who changes http traffic could serve matching checksums.
func TestInstall_FollowsNoRedirectFromHTTPS(t *testing.T) {
	t.Parallel()
	needShell(t)
	plain := releaseServer(t, "v1.2.3", asItIs)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain+r.URL.Path, http.StatusFound) }))
	t.Cleanup(secure.Close)
	// The programs of the test don't verify the certificate.
	for name, option := range map[string]string{"curl": "--insecure", "wget": "--no-check-certificate"} {
		t.Run(name, func(t *testing.T) {
			path := toolsWithout(t, []string{"curl", "wget"}, map[string]string{name: `exec ` + need(t, name) + ` ` + option + ` "$@"`})
			target := t.TempDir()
			out, err := install(t, path, "-u", secure.URL, "-v", "1.2.3", "-d", target)
			equal(t, err != nil, true, out)
			contain(t, out, "can't be downloaded")
			equal(t, len(get(os.ReadDir(target))(t)), 0, "what was installed")
		})
	}
}

// need returns the path of a program, or skips the test without it.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("there is no " + name)
	}
	return path
}

func needShell(t *testing.T) {
	t.Helper()
	if need(t, "sh"); runtime.GOOS == "windows" {
		t.Skip("there is no sh, or no links")
	}
}

func TestInstall_PutsTheVerifiedProgramInPlace(t *testing.T) {
	t.Parallel()
	needShell(t)
	url := releaseServer(t, "v1.2.3", asItIs)
	for name, c := range map[string]struct {
		without []string
		own     map[string]string
		program string
	}{
		"curl":    {[]string{"wget"}, nil, "tfdeps"},
		"wget":    {[]string{"curl"}, nil, "tfdeps"},
		"openssl": {[]string{"sha256sum", "shasum"}, nil, "tfdeps"},
		"shasum":  {[]string{"sha256sum", "openssl"}, nil, "tfdeps"},
		"macOS":   {nil, map[string]string{"uname": `[ "$1" = -m ] && echo arm64 || echo Darwin`}, "tfdeps"},
		"Windows": {nil, map[string]string{"uname": `[ "$1" = -m ] && echo x86_64 || echo MINGW64_NT-10.0`}, "tfdeps.exe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.own == nil {
				need(t, name)
			} else if name == "Windows" {
				need(t, "unzip")
			}
			path := toolsWithout(t, c.without, c.own)
			target := filepath.Join(t.TempDir(), "a b", "bin")
			out, err := install(t, path, "-u", url, "-v", "1.2.3", "-d", target)
			contain(t, out, "tfdeps v1.2.3 is installed as "+target, "is not on PATH")
			succeed(t, err)
			equal(t, len(get(os.ReadDir(target))(t)), 1, "what was installed")
			equal(t, get(os.Stat(filepath.Join(target, c.program)))(t).Mode().Perm(), 0o755)
		})
	}
}

// TestInstall_RefusesWhatIsNotTheRelease: each of these ends with an error that says why, and installs nothing.
func TestInstall_RefusesWhatIsNotTheRelease(t *testing.T) {
	t.Parallel()
	needShell(t)
	changed := func(ending string, change func([]byte) []byte) func(string, []byte) []byte {
		return func(name string, content []byte) []byte {
			if strings.HasSuffix(name, ending) {
				return change(bytes.Clone(content))
			}
			return content
		}
	}
	gone := func([]byte) []byte { return nil }
	longer := func(content []byte) []byte { return append(content, '\n') }
	damageArchive, noSums, changeSums := changed(".tar.gz", longer), changed("SHA256SUMS", gone), changed("SHA256SUMS", longer)
	noSignature := changed(".minisig", gone)
	otherSignature := changed(".minisig", func(content []byte) []byte { return minisign.Sign(*newKey(), content) })
	uname := func(system, machine string) map[string]string {
		return map[string]string{"uname": fmt.Sprintf(`[ "$1" = -m ] && echo %s || echo %s`, machine, system)}
	}
	for name, c := range map[string]struct {
		damage  func(string, []byte) []byte
		without []string
		own     map[string]string
		version string
		want    string
	}{
		"a tampered archive":           {damageArchive, nil, nil, "v1.2.3", "is not what SHA256SUMS lists, so it is not installed"},
		"a list without the archive":   {noSums, nil, nil, "v1.2.3", "is not signed by the key"},
		"a list that was changed":      {changeSums, nil, nil, "v1.2.3", "is not signed by the key"},
		"changed, and only openssl":    {changeSums, []string{"minisign"}, nil, "v1.2.3", "is not signed by the key"},
		"another signature":            {otherSignature, nil, nil, "v1.2.3", "is not signed by the key"},
		"another one, and openssl":     {otherSignature, []string{"minisign"}, nil, "v1.2.3", "is not signed by the key"},
		"no signature":                 {noSignature, nil, nil, "v1.2.3", "is not signed by the key"},
		"nothing that verifies":        {asItIs, []string{"minisign", "openssl"}, nil, "v1.2.3", "minisign or OpenSSL 3 is needed"},
		"an OpenSSL that is too old":   {asItIs, []string{"minisign"}, map[string]string{"openssl": "echo OpenSSL 1.1.1"}, "v1.2.3", "minisign or OpenSSL 3 is needed"},
		"a release that isn't there":   {asItIs, nil, nil, "v9.9.9", "/v9.9.9/SHA256SUMS can't be downloaded"},
		"another system":               {asItIs, nil, uname("FreeBSD", "x86_64"), "v1.2.3", "there are no releases for FreeBSD"},
		"another architecture":         {asItIs, nil, uname("Linux", "riscv64"), "v1.2.3", "there are no releases for linux on riscv64"},
		"a platform that is left out":  {asItIs, nil, uname("MINGW64_NT", "aarch64"), "v1.2.3", "release v1.2.3 has no tfdeps_1.2.3_windows_arm64.zip"},
		"no program for checksums":     {asItIs, []string{"sha256sum", "shasum", "openssl"}, nil, "v1.2.3", "is needed"},
		"no program for downloads":     {asItIs, []string{"curl", "wget"}, nil, "v1.2.3", "curl or wget is needed"},
		"no version in the repository": {asItIs, nil, nil, "", "name the release with -v"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := releaseServer(t, "v1.2.3", c.damage)
			target := filepath.Join(t.TempDir(), "bin")
			args := []string{"-u", url, "-d", target}
			if c.version != "" {
				args = append(args, "-v", c.version)
			}
			out, err := install(t, toolsWithout(t, c.without, c.own), args...)
			equal(t, err != nil, true, out)
			contain(t, out, c.want)
			_, err = os.Stat(target)
			equal(t, err != nil, true, "nothing is installed")
		})
	}
}

// TestInstall_IsFilledIn: the script of a release needs no version.
func TestInstall_IsFilledIn(t *testing.T) {
	t.Parallel()
	text := get(installScript("install.sh", options{version: "v1.2.3", downloads: "https://example.com/d", key: throwAwayKey()}))(t)
	contain(t, string(text), "\nversion=v1.2.3\n", "\ndownloads=https://example.com/d\n", "\nkey="+publicText(throwAwayKey())+"\n")
	other := filepath.Join(t.TempDir(), "install.sh")
	write(t, other, text)
	_, err := installScript(other, options{version: "v1.2.4"})
	refused(t, err, "version=")
}
