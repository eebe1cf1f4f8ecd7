package providerscmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

type whyOptions struct {
	packageOptions
}

func (o *whyOptions) Flags() cli.Flags {
	return slices.Concat(o.roots.Flags("Look at this directory instead of all root modules below the current one", "May be given more than once, and be a pattern such as envs/*."), cli.Flags{
		o.JSONFlag("Print a JSON object: required_by, each with directory, module, file, line and constraint"),
	}, o.modules.Flags(), cli.Flags{cli.NoColor()})[1:] // without -recursive, which is the default here
}

const aboutWhy = `  Lists the places in root modules that require a provider or call a module,
  with directory, file, line and constraint. ADDRESS is as in the configuration:
  hashicorp/aws, registry.example.com/acme/net/aws, ../../net, or the source of
  another module without the ref.

  The exit code is 1 if nothing requires it.`

// Report returns the places that require a provider or a module.
func (o *whyOptions) Report() (*result.Result, error) {
	if len(o.Operands) != 1 {
		return nil, cli.Misusedf("why needs the address of one provider or module, and was given %d arguments", len(o.Operands))
	}
	everywhere := !o.roots.Given()
	if everywhere {
		o.roots.Recursive = true
	}
	o.each = true
	if !o.Choose(o.problems.All...) || !o.Online("") {
		return result.Why(nil), nil
	}

	sought, ok := o.parse(o.Operands[0])
	if !ok {
		return result.Why(nil), nil
	}
	found := o.why(sought)
	if len(found) == 0 {
		o.explainNone(sought, everywhere)
	}
	return result.Why(found), nil
}

// parse reads the address of a provider or a module.
func (o *whyOptions) parse(address string) (dependency, bool) {
	provider, err := o.Product.ParseProvider(address)
	module, invalid := modules.ParseAddress(address, o.Product)
	if err != nil && invalid != nil {
		return dependency{}, o.Log.Add(addressProblem(err))
	}

	sought := dependency{product: o.Product}
	if err == nil {
		sought.provider = provider
	}
	if invalid == nil {
		sought.module = module
	}
	return sought, true
}

// why finds the places in root modules, and in the modules that they call.
func (o *whyOptions) why(sought dependency) (found []result.Requirer) {
	dirs, _ := o.read()
	for _, d := range dirs {
		if d.Tree == nil {
			continue
		}
		for _, m := range d.Tree.Modules {
			for _, place := range sought.in(d.Path, m.Config) {
				place.Holder = placeIn(d.Tree, m, place.Constraint, place.File, place.Line)
				found = append(found, place)
			}
		}
	}
	return found
}

// explainNone says why no place was found. That nothing requires it is only true if everything could be read, and if no file outside of the root
// modules requires it.
func (o *whyOptions) explainNone(sought dependency, everywhere bool) {
	var outside []result.Requirer
	if everywhere {
		for _, m := range roots.Configurations(o.Meta, o.Product) {
			outside = append(outside, sought.in(m.Dir, m)...)
		}
	}

	switch {
	case len(outside) > 0:
		places := result.Each(outside, func(r result.Requirer) string { return fmt.Sprintf("%s:%d", r.File, r.Line) })
		o.Log.Fail("invalid_address", "No root module requires it",
			"Root modules neither have nor call these files, which require %s:%s\n\nIf such a directory is a root module, add -dir=%s.",
			o.Operands[0], problem.Items(places), outside[0].Directory)
	case o.Log.Add():
		o.Log.Fail("invalid_address", "Nothing requires it", "None of the directories requires %s. Providers and modules are compared by their whole addresses.", o.Operands[0])
	}
}

// dependency is a provider or a module: the zero value of the other one matches nothing.
type dependency struct {
	product  getproviders.Product
	provider getproviders.Provider
	module   modules.Address
}

// in returns the places in a module that require the dependency. directory is that of the root module.
func (dep dependency) in(directory string, m *load.Module) (found []result.Requirer) {
	for _, req := range dep.requirements(m) {
		found = append(found, result.Requirer{
			Directory: directory, Module: m.Path,
			Holder: result.Holder{Constraint: req.Constraints.String(), File: req.Pos.File, Line: req.Pos.Line},
		})
	}

	calls := slices.Clone(m.Calls)
	for _, run := range m.TestRuns {
		calls = append(calls, run.Call)
	}
	for _, call := range calls {
		called, err := modules.ParseAddress(call.Source, dep.product)
		if err != nil || !samePackage(called, dep.module) {
			continue
		}
		found = append(found, result.Requirer{
			Directory: directory, Module: m.Path,
			Holder: result.Holder{Constraint: call.Version, File: call.SourceRange.Filename, Line: call.SourceRange.Start.Line},
		})
	}
	return found
}

// requirements returns those that a module and its tests have of the provider.
func (dep dependency) requirements(m *load.Module) []getproviders.Requirement {
	own, _ := m.Requirements() // read has reported the problems
	tests, _ := m.TestRequirements()

	all := slices.Clone(own[dep.provider])
	for _, test := range m.Tests {
		all = append(all, tests[test][dep.provider]...)
	}
	return all
}

// samePackage reports whether two addresses name the same package, apart from version and subdirectory.
func samePackage(a, b modules.Address) bool {
	name := func(address modules.Address) string {
		switch address := address.(type) {
		case modules.Registry:
			return address.Package()
		case modules.Remote:
			pkg, _, _ := strings.Cut(address.Package, "?")
			return pkg
		case modules.Local:
			return string(address)
		}
		return ""
	}
	return name(a) != "" && name(a) == name(b)
}
