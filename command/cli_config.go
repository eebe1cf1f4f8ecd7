package command

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
)

// cliConfigVariable names the file of the CLI configuration.
const cliConfigVariable = "TF_CLI_CONFIG_FILE"

// cliConfig reads the CLI configuration. What it asks for in vain is an error
// if it decides where providers come from or who may read them: to install
// from elsewhere in silence would be worse.
func (m *Meta) cliConfig() (*cliconfig.Config, view.Problems) {
	config, found := cliconfig.Load(m.Env.Get(cliConfigVariable))
	var problems view.Problems
	for _, p := range found {
		detail := p.Detail
		if !strings.Contains(detail, p.File) {
			detail += "\n\nThis is about " + place(p.File, p.Line) + "."
		}
		if p.Warning {
			problems = append(problems, view.NewWarning(p.Summary, detail))
		} else {
			problems = append(problems, view.NewError(p.Summary, detail))
		}
	}
	if config == nil {
		config = &cliconfig.Config{}
	}
	for _, u := range config.Unsupported {
		problems = append(problems, unsupportedSetting(u))
	}
	if m.Env.Get("TF_PLUGIN_CACHE_DIR") != "" {
		problems = append(problems, unsupportedSetting(cliconfig.Unsupported{Name: "TF_PLUGIN_CACHE_DIR", File: "the environment"}))
	}
	return config, problems
}

func unsupportedSetting(u cliconfig.Unsupported) *view.Problem {
	where := place(u.File, u.Line)
	switch u.Name {
	case "provider_installation", "credentials_helper":
		return view.NewError("Setting not supported yet", fmt.Sprintf(
			"The CLI configuration has %s in %s. This version of tfdeps doesn't act on it, and without it providers would "+
				"come from elsewhere than they should. Use \"terraform init\" here, or name another file in %s.",
			u.Name, where, cliConfigVariable))
	default:
		return view.NewWarning("Setting not supported yet", fmt.Sprintf(
			"This version of tfdeps doesn't act on %s, which is set in %s.", u.Name, where))
	}
}

func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
