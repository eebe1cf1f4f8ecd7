package sessions

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestInit_RefusesHostilePackages serves packages that lie, one way each. Init
// says what is wrong and exits with 1; there is nothing in the directory
// afterwards, and the lock file is what it was.
func TestInit_RefusesHostilePackages(t *testing.T) {
	if testing.Short() {
		t.Skip("command's TestMain_RefusesWhatHostileRegistriesSend has more of them")
	}
	t.Parallel()
	program := harness.Tfdeps(t)
	for _, test := range []struct {
		name    string
		options providertest.Options
		spec    providertest.PackageSpec
		kind    string // of answers that break
		fault   providertest.Fault
		want    string
	}{
		{name: "wrong bytes", kind: "archive", fault: providertest.Fault{Body: flipLastByte}, want: "the package has checksum zh:"},
		{name: "wrong checksum in the list", options: providertest.Options{EditSums: zeroSums}, want: `the checksum list has "0000`},
		{name: "no line in the list", options: providertest.Options{EditSums: func([]byte) []byte { return nil }}, want: "the checksum list has no SHA-256 for"},
		{name: "wrong signature", kind: "signature", fault: providertest.Fault{Body: flipLastByte}, want: "signature"},
		{name: "unknown key", spec: providertest.PackageSpec{Keys: otherKey(t)}, want: "unknown issuer"},
		{name: "truncated archive", spec: providertest.PackageSpec{Archive: hostileZip(t, tinyProgram)[:80]}, want: "not a valid zip file"},
		{name: "connection cut", kind: "archive", fault: providertest.Fault{CutAfter: 40, NoRange: true}, want: "after 40 of"},
		{name: "parent directory", spec: hostile(t, tinyProgram, hostileFile{name: "../evil"}), want: `entry "../evil"`},
		{name: "absolute path", spec: hostile(t, tinyProgram, hostileFile{name: "/etc/evil"}), want: `entry "/etc/evil"`},
		{name: "symlink", spec: hostile(t, tinyProgram, hostileFile{name: "link", mode: fs.ModeSymlink | 0o777}), want: "symbolic link"},
		{name: "duplicate names", spec: hostile(t, tinyProgram, tinyProgram), want: "there twice"},
		{name: "no executable", spec: hostile(t, hostileFile{name: "README.md"}), want: "executable"},
		{name: "a terabyte of zeros", spec: providertest.PackageSpec{Archive: terabyte(t)}, want: "larger than"},
		{name: "more zeros than it says", spec: providertest.PackageSpec{Archive: understated(t)}, want: "can't be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			registry := harness.Start(t, providertest.NewRegistry, test.options)
			test.spec.Namespace, test.spec.Type, test.spec.Version = "acme", "tiny", "1.0.0"
			registry.Add(test.spec)
			registry.Break(test.kind, test.fault)
			redirect := harness.Redirect(t, registry, "tf.example.com")
			checkRefusal(t, program, harness.Env(t, redirect...), test.want)
		})
	}
}

func checkRefusal(t *testing.T, program string, env []string, want string) {
	t.Helper()
	const config = "terraform {\n  required_providers {\n    tiny = { source = \"tf.example.com/acme/tiny\" }\n  }\n}\n"
	const lock = "# This file is maintained automatically by \"terraform init\".\n" +
		"# Manual edits may be lost in future updates.\n\n" +
		"provider \"tf.example.com/acme/gone\" {\n  version = \"1.0.0\"\n}\n"
	dir := t.TempDir()
	for name, content := range map[string]string{"main.tf": config, ".terraform.lock.hcl": lock} {
		must.Write(t, filepath.Join(dir, name), content)
	}
	cmd := exec.CommandContext(t.Context(), program, "init", "-no-color")
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v, want exit code 1\n%s", err, stderr.String())
	}
	said := strings.Join(strings.Fields(stderr.String()), " ") // as if it weren't wrapped
	for _, part := range []string{"tf.example.com/acme/tiny", want} {
		must.Contain(t, said, part, stderr.String())
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, ".terraform/providers")); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
	must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, ".terraform.lock.hcl")))(t)), lock)
}

func flipLastByte(body []byte) []byte {
	flipped := bytes.Clone(body)
	flipped[len(flipped)-1] ^= 1
	return flipped
}

// zeroSums replaces the checksum in every line.
func zeroSums(sums []byte) []byte {
	var out strings.Builder
	for line := range strings.Lines(string(sums)) {
		out.WriteString(strings.Repeat("0", 64) + line[64:])
	}
	return []byte(out.String())
}

func otherKey(t *testing.T) []providertest.Key {
	t.Helper()
	signer := must.Get(providertest.NewSigner(providertest.SignerOptions{}))(t)
	return []providertest.Key{signer.Key()}
}

// hostileFile is an entry of an archive that no publisher would make.
type hostileFile struct {
	name string
	mode fs.FileMode
}

var tinyProgram = hostileFile{name: "terraform-provider-tiny_v1.0.0", mode: 0o755}

func hostile(t *testing.T, files ...hostileFile) providertest.PackageSpec {
	t.Helper()
	return providertest.PackageSpec{Archive: hostileZip(t, files...)}
}

func hostileZip(t *testing.T, files ...hostileFile) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, file := range files {
		header := &zip.FileHeader{Name: file.name, Method: zip.Deflate}
		header.SetMode(file.mode)
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = fmt.Fprintf(entry, "content of %s", file.name)
		}
		must.Succeed(t, err)
	}
	must.Succeed(t, w.Close())
	return archive.Bytes()
}

// terabyte returns an archive that says that it unpacks to a terabyte, and
// goes on inflating for as long as its megabyte of deflated zeros lasts.
func terabyte(t *testing.T) []byte {
	t.Helper()
	return rawZip(t, deflatedZeros(t, 1<<10), 1<<40)
}

// understated returns one that says it is small.
func understated(t *testing.T) []byte {
	t.Helper()
	return rawZip(t, deflatedZeros(t, 1), 1000)
}

// deflatedZeros deflates so many megabytes: one, of which the rest are copies.
func deflatedZeros(t *testing.T, megabytes int) []byte {
	t.Helper()
	var deflated bytes.Buffer
	w := must.Get(flate.NewWriter(&deflated, flate.BestSpeed))(t)
	must.Get(w.Write(make([]byte, 1<<20)))(t)
	must.Succeed(t, w.Flush())
	all := bytes.Repeat(deflated.Bytes(), megabytes)
	deflated.Reset()
	must.Succeed(t, w.Close())
	return append(all, deflated.Bytes()...)
}

// rawZip makes an archive of one entry that claims to have so many bytes.
func rawZip(t *testing.T, deflated []byte, claimed uint64) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	header := &zip.FileHeader{
		Name: tinyProgram.name, Method: zip.Deflate,
		CompressedSize64: uint64(len(deflated)), UncompressedSize64: claimed,
		CRC32: binary.LittleEndian.Uint32([]byte("none")),
	}
	header.SetMode(tinyProgram.mode)
	entry, err := w.CreateRaw(header)
	if err == nil {
		_, err = entry.Write(deflated)
	}
	if err == nil {
		err = w.Close()
	}
	must.Succeed(t, err)
	return archive.Bytes()
}
