package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// engineSettings are an engine, its variables, and what there is without them.
type engineSettings struct {
	at             func(version string) getproviders.Engine
	path, version  string // variables: where the real program is, and its version
	defaultVersion string // what we go by where there is nothing to go by
}

// settingsOf are those of each engine, by its program.
var settingsOf = map[string]engineSettings{
	"terraform": {getproviders.Terraform, realVariable, engineVersionVariable, defaultEngineVersion},
	"tofu":      {getproviders.OpenTofu, realTofuVariable, tofuVersionVariable, "1.12.6"},
}

// chooseEngine finds out whose work we do, at a version that isn't known: that of
// the program that -with names and which goes on from what we leave, of the program
// in whose place we are, of the one that TFDEPS_ENGINE says, or Terraform's.
// What else there is in a directory decides nothing: files that only one
// engine reads may be there for the other's sake.
func (m *Meta) chooseEngine() (getproviders.Engine, error) {
	name := m.with
	if name == "" && m.StandIn != nil {
		name = m.StandIn.Name
	}
	if engine, ok := engineOfProgram(name); ok {
		return engine, nil
	}
	return engineByVariable(m.Env)
}

// enforceVariable, with the value "true", has OpenTofu refuse packages without a
// signature.
const enforceVariable = "OPENTOFU_ENFORCE_GPG_VALIDATION"

// strict is the engine as the environment makes it.
func (m *Meta) strict(engine getproviders.Engine) getproviders.Engine {
	if m.Env.Get(enforceVariable) == "true" {
		engine.KeylessHost = ""
	}
	return engine
}

// unversioned is chooseEngine for commands that ask nobody and run nothing, to
// which the version is all one. A variable that can't be used is a matter of other commands.
func (m *Meta) unversioned() getproviders.Engine {
	engine, _ := m.chooseEngine()
	return engine
}

// engineByVariable is Terraform if the variable isn't set, or can't be used.
func engineByVariable(env Environment) (getproviders.Engine, error) {
	given := cmp.Or(env.Get(engineVariable), "terraform")
	if settings, ok := settingsOf[given]; ok {
		return settings.at(""), nil
	}
	return getproviders.Terraform(""), fmt.Errorf("the value of %s is %q, and has to be \"terraform\" or \"tofu\"", engineVariable, given)
}

// engineOfProgram is the engine that a program's name begins with, as
// "tofu1.12.6" does.
func engineOfProgram(name string) (getproviders.Engine, bool) {
	for program, settings := range settingsOf {
		if strings.HasPrefix(name, program) {
			return settings.at(""), true
		}
	}
	return getproviders.Engine{}, false
}
