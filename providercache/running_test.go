package providercache_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// restVariable makes the test program do nothing for a while.
const restVariable = "TFDEPS_TEST_REST"

func rest() {
	_, _ = os.Stdout.WriteString("running\n")
	time.Sleep(time.Minute)
}

// A program that runs can't be written to and mustn't be: it stays the old one until it
// ends, whatever happens to the package.
func TestInstall_ReplacesARunningProvider(t *testing.T) {
	needsReceipts(t)
	content := must.Get(os.ReadFile(os.Args[0]))(t)
	m := newMachine(t)
	name := "terraform-provider-a" + filepath.Ext(os.Args[0])
	m.Registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "a", Version: "1.0.0", Platform: linux,
		Archive: zipOf(t, map[string]string{name: string(content), "LICENSE": "free"})})
	d := m.directory()
	locks, _ := m.install(d, nil)
	cached := filepath.Join(m.Cache, packageDir(registryHost+"/acme/a", "1.0.0"))
	running := exec.CommandContext(t.Context(), filepath.Join(cached, name))
	running.Env = append(os.Environ(), restVariable+"=1")
	out, err := running.StdoutPipe()
	succeed(t, err)
	succeed(t, running.Start())
	t.Cleanup(func() { _ = running.Process.Kill(); _ = running.Wait() })
	must.Get(out.Read(make([]byte, 8)))(t)

	must.Refuse(os.WriteFile(running.Path, content, 0o755))(t, "programs that run may be written to here")
	for _, mode := range []providercache.LinkMode{providercache.LinkAuto, providercache.LinkHardlink, providercache.LinkSymlink, providercache.LinkCopy} {
		other := m.directory()
		other.Link = mode
		_, did := m.install(other, locks)
		must.Equal(t, did, "linked 2", mode)
	}
	succeed(t, os.WriteFile(filepath.Join(cached, "LICENSE"), []byte("gone"), 0o644)) // the package is exchanged, where that can be
	other := m.directory()
	_, did := m.install(other, locks)
	must.Contain(t, did, "archive 1")
	must.Equal(t, strings.Count(treeOf(t, other.Target.Dir), "LICENSE: free"), 2)
	must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(cached, name)))(t)) == string(content), true)
	must.Equal(t, running.Process.Kill(), nil)
}
