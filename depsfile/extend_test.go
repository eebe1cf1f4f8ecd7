package depsfile

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestExtend_KeepsHashesOfUnknownSchemes(t *testing.T) {
	for version, want := range map[string][]getproviders.Hash{
		"1.0.0": {"h1:a", "h1:c", "xx:1", "zh:b"},
		"2.0.0": {"h1:c"},
	} {
		locks := decode(t, locked(`hashes = ["zh:b", "xx:1", "h1:a"]`))
		locks.Extend(lock(t, "a.com/b/c", version, "", "h1:c", "yy:2"))
		got, _ := locks.Provider(provider(t, "a.com/b/c"))
		must.Equal(t, got.Version.String(), version)
		must.EqualSlices(t, got.Hashes, want, version)
	}
	var none Locks
	none.Extend(lock(t, "a.com/b/c", "1.0.0", "", "h1:c"))
	if got, ok := none.Provider(provider(t, "a.com/b/c")); !ok || len(got.Hashes) != 1 {
		t.Errorf("a new entry is %v", got)
	}
}
