package getproviders_test

import (
	"encoding/json"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
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
	survivesJSON(t, getproviders.Version{}, getproviders.MustParseVersion("1.2.3-beta.1+x"))
	survivesJSON(t, getproviders.Constraints{}, getproviders.MustParseConstraints("~> 1.2, != 1.5"))
	survivesJSON(t, getproviders.Platform{}, linux)
	for text, value := range map[string]any{`"linux"`: new(getproviders.Platform), `"1.x"`: new(getproviders.Version)} {
		must.Refuse(json.Unmarshal([]byte(text), value))(t, text)
	}
}

func TestMustParse_PanicsOnBadInput(t *testing.T) {
	for name, parse := range map[string]func(){
		"version": func() { getproviders.MustParseVersion("1.x") }, "constraints": func() { getproviders.MustParseConstraints("1.x") },
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
