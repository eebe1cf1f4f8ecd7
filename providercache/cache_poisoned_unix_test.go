//go:build unix

package providercache_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

// poisons are what a cache that CI restores as root may contain: another executable, and receipts
// beside the cache that call it the authentic one.
var poisons = map[string]func(t *testing.T, im image, h1, zh getproviders.Hash){
	"the bytes, behind receipts that are left alone": func(t *testing.T, im image, _, _ getproviders.Hash) {
		im.prime(t)
		file := im.executable()
		keepingTimes(t, file, func() {
			succeed(t, os.WriteFile(file, []byte(strings.Repeat("x", len(originalWidget))), 0o755))
		})
	},
	"the package, with receipts that lie": func(t *testing.T, im image, h1, zh getproviders.Hash) {
		evil := im
		evil.archive += ".evil"
		files := map[string]string{"terraform-provider-widget": "evil"}
		succeed(t, os.WriteFile(evil.archive, zipOf(t, files), 0o644))
		evil.prime(t)
		notes := filepath.Join(im.cache+".receipts", "packages")
		forge(t, notes, string(h1Of(t, files)), string(h1))
		forge(t, notes, string(zhOfBytes([]byte(read(t, evil.archive)))), string(zh))
	},
}

const originalWidget = "provider 1.0.0\n"

func (im image) executable() string {
	return widgetIn(im.cache)
}

// forge replaces a text in a file of receipts, and corrects the
// file's checksum, which is no secret.
// secret.
func forge(t *testing.T, path, was, is string) {
	t.Helper()
	head, body, _ := bytes.Cut([]byte(read(t, path)), []byte("\n"))
	forged := bytes.ReplaceAll(body, []byte(was), []byte(is))
	if bytes.Equal(forged, body) {
		t.Fatalf("there is no %q in %s", was, body)
	}
	sum := func(body []byte) []byte { return fmt.Appendf(nil, "%x", sha256.Sum256(body)) }
	head = bytes.Replace(head, sum(body), sum(forged), 1)
	succeed(t, os.WriteFile(path, append(append(head, '\n'), forged...), 0o644))
}

// mountedReadOnly is a command that runs another one with directories mounted read-only. Not every
// root may mount.
func mountedReadOnly(t *testing.T, dirs ...string) []string {
	t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip(err)
	}
	script := ""
	for _, dir := range dirs {
		script += fmt.Sprintf("mount --bind '%[1]s' '%[1]s' && mount -o remount,bind,ro '%[1]s' && ", dir)
	}
	if out, err := exec.CommandContext(t.Context(), unshare, "-m", "sh", "-c", script+"true").CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %v: %s", err, out)
	}
	return []string{unshare, "-m", "sh", "-c", script + `exec "$@"`, "sh"}
}
