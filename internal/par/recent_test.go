package par

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRecent_ForgetsWhatWasntUsed(t *testing.T) {
	recent := NewRecent[string, int](10)
	recent.Put("a", 1, 4)
	recent.Put("b", 2, 4)
	if got, ok := recent.Get("a"); got != 1 || !ok { // now b is the one that wasn't used
		t.Errorf("a = %d, %v", got, ok)
	}
	recent.Put("c", 3, 4)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true} {
		_, ok := recent.Get(key)
		must.Equal(t, ok, want, key)
	}
	recent.Put("a", 4, 6) // replaces its cost, too
	got, _ := recent.Get("a")
	must.Equal(t, got, 4)
	if _, ok := recent.Get("c"); !ok {
		t.Error("c is gone although there is room")
	}
	recent.Forget("a")
	if _, ok := recent.Get("a"); ok {
		t.Error("a isn't forgotten")
	}
	recent.Put("large", 5, 100)
	if _, ok := recent.Get("large"); !ok {
		t.Error("one value has to be remembered whatever it costs")
	}
}

func TestShared_StaysUntilTheLastUserHasLeft(t *testing.T) {
	var shared Shared[string, *int]
	made := func() *int { return new(int) }
	one, first := shared.Join("a", made)
	two, second := shared.Join("a", made)
	if one != two || !first || second {
		t.Errorf("made: %v, %v; the same: %v", first, second, one == two)
	}
	if shared.Leave("a", one) {
		t.Error("the last user is still there")
	}
	shared.Withdraw("a", one)
	three, third := shared.Join("a", made)
	if three == one || !third {
		t.Error("what was withdrawn was joined")
	}
	if !shared.Leave("a", two) {
		t.Error("the last user has left")
	}
	if !shared.Has("a") || shared.All()["a"] != three.Value {
		t.Error("the value that has a user is lost")
	}
	if !shared.Leave("a", three) || shared.Has("a") || len(shared.All()) != 0 {
		t.Error("the value has stayed without users")
	}
}
