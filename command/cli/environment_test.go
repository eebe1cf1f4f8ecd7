package cli

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestEnvironment_ReturnsTheLastValue(t *testing.T) {
	env := Environment{"A=1", "B=", "A=2=3", "broken", "=C:=C:\\"}
	for name, want := range map[string]string{"A": "2=3", "B": "", "C": "", "broken": ""} {
		must.Equal(t, env.Get(name), want, name)
	}
	must.Equal(t, env.With("A=4").Get("A"), "4")
	must.Equal(t, env.Get("A"), "2=3")
}
