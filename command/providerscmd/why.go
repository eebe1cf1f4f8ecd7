package providerscmd

import (
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
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
	if !o.roots.Given() {
		o.roots.Recursive = true
	}
	o.each = true
	var found []result.Requirer
	if o.Choose(o.problems.All...) {
		if found = o.why(o.Operands[0]); len(found) == 0 {
			o.Log.Fail("invalid_address", "Nothing requires it", "None of the directories requires %s. Providers and modules are compared by their whole addresses.", o.Operands[0])
		}
	}
	return result.Why(found), nil
}

// why finds the places that require a provider or a module.
func (o *whyOptions) why(address string) (found []result.Requirer) {
	if !o.Online("") {
		return nil
	}
	provider, err := o.Product.ParseProvider(address)
	module, invalid := modules.ParseAddress(address, o.Product)
	if err != nil && invalid != nil {
		o.Log.Add(addressProblem(err))
		return nil
	}
	dirs, _ := o.read()
	for _, d := range dirs {
		for _, req := range d.required[provider] {
			if err == nil && req.Pos != (getproviders.Pos{}) {
				found = append(found, result.Requirer{Directory: d.Path, Module: req.Pos.Module, Holder: result.Holder{Constraint: req.Constraints.String(), File: req.Pos.File, Line: req.Pos.Line}})
			}
		}
		if d.Tree == nil || invalid != nil {
			continue
		}
		for _, m := range d.Tree.Modules {
			for _, call := range m.Config.Calls {
				if called, err := modules.ParseAddress(call.Source, o.Product); err == nil && samePackage(called, module) {
					found = append(found, result.Requirer{Directory: d.Path, Module: m.Config.Path, Holder: result.Holder{
						Constraint: call.Version, File: call.SourceRange.Filename, Line: call.SourceRange.Start.Line}})
				}
			}
		}
	}
	return found
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
