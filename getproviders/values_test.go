package getproviders

import (
	"encoding/json"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func survivesJSON[T any](t *testing.T, want ...T) {
	t.Helper()
	text := must.Get(json.Marshal(want))(t)
	var got []T
	must.Succeed(t, json.Unmarshal(text, &got))
	must.DeepEqual(t, got, want, string(text))
}

func TestValues_SurviveJSON(t *testing.T) {
	survivesJSON(t, Version{}, MustParseVersion("1.2.3-beta.1+x"))
	survivesJSON(t, Constraints{}, MustParseConstraints("~> 1.2, != 1.5"))
	survivesJSON(t, Platform{}, linux)
	for text, value := range map[string]any{`"linux"`: new(Platform), `"1.x"`: new(Version)} {
		must.Refuse(json.Unmarshal([]byte(text), value))(t, text)
	}
}

func TestMustParse_PanicsOnBadInput(t *testing.T) {
	for name, parse := range map[string]func(){
		"version": func() { MustParseVersion("1.x") }, "constraints": func() { MustParseConstraints("1.x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			parse()
		}()
	}
}
