package servecmd

import (
	"bytes"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestOptions_RefuseSizesThatRemoveAll(t *testing.T) {
	for _, text := range []string{"0", "0GB", "200", "-1GB"} {
		must.Refuse(size(text))(t, text)
	}
	must.Refuse(memorySize("63MiB"))(t)
}

func TestCollect_KeepsWhatLockFilesSelect(t *testing.T) {
	dir := t.TempDir()
	const hash = "zh:0000000000000000000000000000000000000000000000000000000000000001"
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Write(t, path, content)
		return path
	}
	write("a/b/.terraform.lock.hcl", "provider \"registry.terraform.io/acme/widget\" {\n  version = \"1.0.0\"\n  hashes = [\n    \""+hash+"\",\n  ]\n}\n")
	o := collectOptions{keepLocked: []string{dir}}
	keep, _ := o.lockedHashes(getproviders.Product{})
	other := getproviders.Hash("zh:0000000000000000000000000000000000000000000000000000000000000002")
	if !keep(getproviders.Provider{}, getproviders.Version{}, []getproviders.Hash{other, hash}) || keep(getproviders.Provider{}, getproviders.Version{}, []getproviders.Hash{other}) {
		t.Error("not what the lock file selects")
	}
	for _, path := range []string{write("broken", "provider {"), t.TempDir()} {
		o := collectOptions{keepLocked: []string{path}}
		if err := o.collect(t.Context(), getproviders.Product{}, nil, nil); err == nil {
			t.Errorf("what lock files in %s select would be removed", path)
		}
	}
}

func TestServe_KeepsNothingWithoutALimit(t *testing.T) {
	m := &cli.Meta{Context: t.Context()}
	_, err := run(m, []string{"-keep-locked=.", "-include=no pattern", t.TempDir()})
	if usage, ok := errors.AsType[*cli.UsageError](err); !ok || !strings.Contains(usage.Text, "-max-size") {
		t.Errorf("%v", err)
	}
}

// TestServeGC_SaysWhatGoes removes archives above -max-size from the directory of a server.
func TestServeGC_SaysWhatGoes(t *testing.T) {
	dir := t.TempDir()
	f, _ := frontIn(t, dir)
	f.ask(t, widget+"terraform-provider-widget_1.0.0_linux_amd64.zip", http.StatusOK)
	f.idle()
	archives := func() int {
		all := must.Get(f.mirror.StoredPackages(t.Context()))(t)
		return len(all)
	}
	later := time.Duration(0)
	gc := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		m := &cli.Meta{Context: t.Context(), Stdout: &out, Stderr: &out, HomeDir: t.TempDir(), NewClient: hosts.NewClient,
			Now: func() time.Time { return time.Now().Add(later) }}
		if code, err := runGC(m, append(args, dir)); code != 0 || err != nil || archives() != want {
			t.Errorf("%q: %d, %v, %d are left: %s", args, code, err, archives(), &out)
		}
		return out.String()
	}
	must.Contain(t, gc(1, "-max-size=1B"), "removed 0 of 1 archives, 0 kB of 1 kB; those stored or used within two hours stay")
	later = 3 * time.Hour
	if out := gc(1, "-max-size=1B", "-dry-run"); !strings.Contains(out, "would remove") || !strings.Contains(out, "No uses of archives are recorded") || !strings.Contains(out, "/acme/widget 1.0.0 linux_amd64: ") {
		t.Error(out)
	}
	must.Contain(t, gc(1, "-max-unused=1d"), "removed 0 of 1 archives, 0 kB of 1 kB")
	must.Contain(t, gc(0, "-max-size=1B"), "removed 1 of 1 archives")
	must.Refuse(runGC(&cli.Meta{}, []string{dir}))(t, "gc without a limit")
}
