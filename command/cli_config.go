package command

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
)

// cliConfig reads the CLI configuration. Problems with it are errors: to
// install from elsewhere than it says, or as somebody else, would be worse than
// to install nothing.
func (m *Meta) cliConfig(product getproviders.Product) (*cliconfig.Config, view.Problems) {
	at := cliconfig.Find(m.Env.Get, m.HomeDir, m.appData(), runtime.GOOS, product)
	config, found := cliconfig.Read(at, m.Env.Get, product)
	var problems view.Problems
	for _, p := range found {
		problems = append(problems, cliConfigProblem(p))
	}
	return config, problems
}

// cliConfigProblem says in words where the problem is. The lines themselves
// aren't shown, as they would be of other files: they may hold tokens.
func cliConfigProblem(p cliconfig.Problem) *view.Problem {
	detail := p.Detail
	switch {
	case p.Line > 0:
		detail += fmt.Sprintf("\n\nThis is about %s:%d.", p.File, p.Line)
	case !strings.Contains(detail, p.File):
		detail += fmt.Sprintf("\n\nThis is about %s.", p.File)
	}
	if p.Warning {
		return view.NewWarning(p.Summary, detail)
	}
	return view.NewError(p.Summary, detail)
}

// appData is where Windows has what belongs to programs of a user; "" elsewhere.
func (m *Meta) appData() string {
	if runtime.GOOS != "windows" {
		return ""
	}
	return m.Env.Get("APPDATA")
}
