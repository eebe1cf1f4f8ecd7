package cli

import "testing"

func TestEnvironment_ReturnsTheLastValue(t *testing.T) {
	env := Environment{"A=1", "B=", "A=2=3", "broken", "=C:=C:\\"}
	for name, want := range map[string]string{"A": "2=3", "B": "", "C": "", "broken": ""} {
		if got := env.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := env.With("A=4").Get("A"); got != "4" {
		t.Errorf("A is %q after it was replaced", got)
	}
	if got := env.Get("A"); got != "2=3" {
		t.Errorf("A is %q where it wasn't replaced", got)
	}
}
