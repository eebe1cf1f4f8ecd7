package depsfile

import (
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

var terraform = getproviders.Terraform("1.15.9")

func provider(t testing.TB, address string) getproviders.Provider {
	t.Helper()
	return must.Get(terraform.ParseProvider(address))(t)
}

func lock(t testing.TB, address, version, constraints string, hashes ...getproviders.Hash) Lock {
	t.Helper()
	return Lock{
		Provider:    provider(t, address),
		Version:     getproviders.MustParseVersion(version),
		Constraints: getproviders.MustParseConstraints(constraints),
		Hashes:      hashes,
	}
}

func locksOf(locks ...Lock) *Locks {
	l := &Locks{}
	for _, lock := range locks {
		l.Set(lock)
	}
	return l
}

func TestLocks_SetSortsHashesAndDropsUnknownSchemes(t *testing.T) {
	given := lock(t, "acme/a", "1.0.0", "", "zh:b", "h9:x", "h1:b", "zh:a", "h1:b")
	before := slices.Clone(given.Hashes)
	l := locksOf(given)
	got, found := l.Provider(given.Provider)
	if want := []getproviders.Hash{"h1:b", "zh:a", "zh:b"}; !found || !slices.Equal(got.Hashes, want) {
		t.Errorf("hashes %v, want %v", got.Hashes, want)
	}
	must.EqualSlices(t, given.Hashes, before)
}

func TestLocks_SetReplacesAndRemoveDrops(t *testing.T) {
	a, b := lock(t, "acme/a", "1.0.0", ""), lock(t, "acme/b", "1.0.0", "")
	l := locksOf(a, b, lock(t, "acme/a", "2.0.0", ""))
	if got, _ := l.Provider(a.Provider); got.Version.Major != 2 {
		t.Errorf("version %s after it was replaced", got.Version)
	}
	l.Remove(b.Provider)
	l.Remove(b.Provider)
	if _, found := l.Provider(b.Provider); found || len(l.All()) != 1 {
		t.Errorf("entries %v after one was removed", l.All())
	}
}

func TestLocks_SetIgnoresWhatCannotBeLocked(t *testing.T) {
	l := locksOf(
		lock(t, "terraform.io/builtin/terraform", "1.0.0", ""),
		lock(t, "-/aws", "1.0.0", ""),
		Lock{Version: getproviders.MustParseVersion("1.0.0")},
	)
	if !l.Empty() {
		t.Errorf("entries %v", l.All())
	}
}

func TestLocks_AllIsInTheOrderOfTheFile(t *testing.T) {
	l := locksOf(
		lock(t, "registry.terraform.io/hashicorp/aws", "1.0.0", ""),
		lock(t, "ä.com/a/a", "1.0.0", ""), // xn--4ca.com
		lock(t, "z.com/a/a", "1.0.0", ""),
		lock(t, "registry.terraform.io/acme/z", "1.0.0", ""),
	)
	var got []string
	for _, lock := range l.All() {
		got = append(got, lock.Provider.String())
	}
	must.EqualSlices(t, got, []string{"registry.terraform.io/acme/z", "registry.terraform.io/hashicorp/aws", "ä.com/a/a", "z.com/a/a"})
}

func TestLocks_Equal(t *testing.T) {
	base := lock(t, "acme/a", "1.0.0", "~> 1.0", "h1:a", "zh:b")
	tests := []struct {
		name  string
		other *Locks
		equal bool
	}{
		{"itself", locksOf(base), true},
		{"other constraints", locksOf(lock(t, "acme/a", "1.0.0", "~> 1.1", "h1:a", "zh:b")), true},
		{"other version", locksOf(lock(t, "acme/a", "1.0.1", "~> 1.0", "h1:a", "zh:b")), false},
		{"other metadata", locksOf(lock(t, "acme/a", "1.0.0+x", "~> 1.0", "h1:a", "zh:b")), false},
		{"fewer hashes", locksOf(lock(t, "acme/a", "1.0.0", "~> 1.0", "h1:a")), false},
		{"unsorted hashes", decode(t, "provider \"registry.terraform.io/acme/a\" {\n  version = \"1.0.0\"\n  hashes = [\"zh:b\", \"h1:a\"]\n}\n"), false},
		{"other provider", locksOf(lock(t, "acme/b", "1.0.0", "~> 1.0", "h1:a", "zh:b")), false},
		{"one more", locksOf(base, lock(t, "acme/b", "1.0.0", "")), false},
		{"none", locksOf(), false},
		{"nil", nil, false},
	}
	for _, tt := range tests {
		l := locksOf(base)
		if l.Equal(tt.other) != tt.equal || tt.other.Equal(l) != tt.equal {
			t.Errorf("%s: equal %t and %t, want %t", tt.name, l.Equal(tt.other), tt.other.Equal(l), tt.equal)
		}
	}
}

func TestLocks_NilIsEmpty(t *testing.T) {
	var none *Locks
	none.Remove(provider(t, "acme/a"))
	if _, found := none.Provider(provider(t, "acme/a")); found {
		t.Error("found something in nothing")
	}
	if !none.Empty() || len(none.All()) != 0 || !none.Equal(&Locks{}) {
		t.Error("nil isn't empty")
	}
	clone := none.Clone()
	clone.Set(lock(t, "acme/a", "1.0.0", ""))
	if clone.Empty() {
		t.Error("a copy of nil can't be changed")
	}
}

func TestLocks_NothingSharesMemoryWithItsCopies(t *testing.T) {
	a := lock(t, "acme/a", "1.0.0", "", "h1:a", "zh:b")
	l := locksOf(a)
	clone := l.Clone()
	clone.Set(lock(t, "acme/b", "1.0.0", ""))

	got, _ := l.Provider(a.Provider)
	got.Hashes[0] = "h1:changed"
	l.All()[0].Hashes[0] = "h1:changed"
	clone.All()[0].Hashes[0] = "h1:changed"
	must.DeepEqual(t, l.All(), []Lock{a})
}
