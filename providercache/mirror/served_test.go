package mirror_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// TestMirrorPrune_AMirrorIsWholeWhileItIsPruned has clients read and install from a mirror in
// which one version comes and goes. The other version can be installed at every moment, and what
// is listed is there.
func TestMirrorPrune_AMirrorIsWholeWhileItIsPruned(t *testing.T) {
	m := newMirroring(t)
	m.opts.Prune, m.opts.Platforms = true, onLinux
	both, one := want("widget@1.0.0", "widget@2.0.0"), want("widget@2.0.0")
	must.Get(m.run(both...))(t)
	server := httptest.NewServer(http.FileServer(http.Dir(m.dir)))
	defer server.Close()

	var ended atomic.Bool
	var pruning sync.WaitGroup
	pruning.Go(func() {
		defer ended.Store(true)
		for range peertest.Rounds(4, 10) {
			for _, wanted := range [][]mirror.Spec{one, both} {
				must.Equal(t, must.ErrorOf(mirror.Update(t.Context(), m.Fetcher, mirror.Directory(m.dir), wanted, m.opts)), nil)
			}
		}
	})
	for reads := 0; !ended.Load() || reads == 0; reads++ {
		for _, problem := range listedAndMissing(t, m) {
			t.Error(problem)
		}
		source := must.Get(getproviders.NewNetworkMirrorSource(server.URL+"/", server.Client(), nil, product))(t)
		in := newInstaller(t, source)
		in.Fetcher.Client = server.Client()
		install(t, in, require(widgetAddress, "2.0.0"), nil)
	}
	pruning.Wait()
}

// listedAndMissing says what is wrong with a mirror while it changes. A reader of a document that
// was replaced meanwhile sees the state before.
func listedAndMissing(t *testing.T, m *mirroring) []string {
	t.Helper()
	before := m.listing()
	problems := brokenIndexes(m.dir)
	if !slices.Equal(before, m.listing()) {
		return nil
	}
	return problems
}

// listing returns the documents, and their modification times.
func (m *mirroring) listing() (all []string) {
	names, _ := filepath.Glob(filepath.Join(m.dir, "*", "*", "*", "*.json"))
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil {
			all = append(all, fmt.Sprint(name, info.Size(), info.ModTime().UnixNano()))
		}
	}
	return all
}

func TestMirrorPrune_PruneRemovesNothingThatIsListed(t *testing.T) {
	m := newMirroring(t)
	m.opts.Prune, m.opts.Platforms = true, onLinux
	m.fill("widget@1.0.0", "widget@2.0.0")
	succeed(t, os.Remove(m.file("widget/index.json")))
	write(t, m.file("widget/index.json/in the way"), "")
	there := m.files()
	result, err := mirror.Update(t.Context(), m.Fetcher, mirror.Directory(m.dir), want("widget@2.0.0"), m.opts)
	if err == nil || len(result.Pruned) > 0 || !slices.Equal(m.files(), there) {
		t.Errorf("%v, removed %q", err, result.Pruned)
	}
}
