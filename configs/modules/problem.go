package modules

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/getproviders"
)

// problem returns an error about a place in the configuration.
func problem(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  summary,
		Detail:   fmt.Sprintf(format, args...),
		Subject:  &at,
	}
}

func canceled() *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Module installation was canceled by an interrupt signal.",
		Detail:   "Nothing was recorded.",
	}
}

func tooMany() *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Too many modules",
		Detail:   fmt.Sprintf("The configuration has more than %d modules, counting each call of one.", maxModules),
	}
}

// invalidSource is about an address that means nothing.
func invalidSource(call configs.ModuleCall, err error) *hcl.Diagnostic {
	if call.VersionRange == (hcl.Range{}) {
		return problem(call.SourceRange, "Invalid module source address", "The source can't be used: %v.", err)
	}
	return problem(call.SourceRange, "Invalid registry module source address",
		"The source can't be used: %v.\n\nThe call has the argument \"version\" as well, so that the source has to be a module of a registry.", err)
}

// unreadable is about a local module that isn't there; nil without an error.
func unreadable(call configs.ModuleCall, dir string, err error) *hcl.Diagnostic {
	if err == nil {
		return nil
	}
	return problem(call.SourceRange, "Unreadable module directory",
		"The module %q has to be in the directory %s, which can't be read: %v.", call.Name, dir, err)
}

// escapes is about a path that leads out of a package.
func escapes(call configs.ModuleCall, parent *Module) *hcl.Diagnostic {
	return problem(call.SourceRange, "Local module path escapes module package",
		"The source %q of %s would be outside of the package that it is in, %q. Paths have to stay in their package.",
		call.Source, joinPath(parent.Config.Path, call.Name), shownSource(parent.pkg))
}

// repeated is about a module that would be in the tree without end.
func repeated(call configs.ModuleCall, child *Module) *hcl.Diagnostic {
	return problem(call.SourceRange, "Module calls itself",
		"The module in %s is called by a module that it calls itself, so that the tree of modules would have no end.", child.Dir)
}

// notFetched is about a module that would have to be fetched.
func notFetched(engine getproviders.Engine, mode Mode, call configs.ModuleCall, child *Module) *hcl.Diagnostic {
	const format = "The module %q is called at %s:%d with the source %s, and %s. This version of tfdeps fetches local modules only.\n\n%s"
	at := call.Range
	if mode == Upgrade {
		return problem(call.SourceRange, "Module can't be upgraded", format, call.Name, at.Filename, at.Start.Line, shownSource(child.Source),
			"-upgrade asks for it to be fetched again", fmt.Sprintf(
				"\"%[1]s get -update\" will fetch it; after that, \"tfdeps init -upgrade -get=false\" upgrades the providers.", engine.Program))
	}
	return problem(call.SourceRange, "Module can't be fetched", format, call.Name, at.Filename, at.Start.Line, shownSource(child.Source),
		"it isn't installed yet", fmt.Sprintf("\"%s get\" will fetch it; after that, run \"tfdeps init\" again.", engine.Program))
}

// outdated says why a record can't be used where none may be made; nil: it can.
func (w *walk) outdated(call configs.ModuleCall, child *Module, recorded Record, ok bool) *hcl.Diagnostic {
	const advice = "Run init without -get=false, which installs modules."
	switch {
	case !ok:
		return problem(call.Range, "Module not installed", "The module %q is not installed yet. %s", call.Name, advice)
	case recorded.Source != child.Source:
		return problem(call.SourceRange, "Module source has changed",
			"The module %q is installed from %q, and its source is %q now. %s", call.Name, shownSource(recorded.Source), shownSource(child.Source), advice)
	case !satisfies(recorded.Version, call.Version):
		return problem(call.SourceRange, "Module version requirements have changed",
			"The module %q is installed in version %q, which doesn't satisfy %q. %s", call.Name, recorded.Version, call.Version, advice)
	case !isDir(w.at(recorded.Dir)):
		return problem(call.Range, "Module not installed",
			"The module %q is recorded to be in %s, which is no directory. %s", call.Name, recorded.Dir, advice)
	}
	return nil
}
