package terminal

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestPrintable_IsNoCommandOfCI(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"::error::x":                        ": :error::x",
		"a\n  ::set-output name=x::y":       "a\n  : :set-output name=x::y",
		"a ::add-path::x":                   "a : :add-path::x", // wrapping may begin a line with it
		"see ##vso[task.prependpath]/x":     "see # #vso[task.prependpath]/x",
		"##[group]":                         "# #[group]",
		"####[x]":                           "### #[x]",
		"##teamcity[message text='x']":      "# #teamcity[message text='x']",
		"git::https://x/y.git //a ##b ::1:": "git::https://x/y.git //a ##b ::1:",
		"dial [::1]:80, ## heading":         "dial [::1]:80, ## heading",
		"":                                  "",
	} {
		must.Equal(t, Printable(text), want, text)
		must.NotContain(t, PrintableLine(text), "\n")
	}
}
