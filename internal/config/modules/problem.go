package modules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/load"
)

// Summaries of several problems.
const (
	invalidAddress  = "Invalid module source address"
	refusedByPolicy = "Module refused by policy"
)

// invalidSource returns the problem of an invalid source address.
func invalidSource(call load.ModuleCall, err error) *hcl.Diagnostic {
	diag := diagnostic.Coded("invalid_module_source", diagnostic.Error(call.SourceRange, invalidAddress, "The source can't be used: %v.", err))
	if call.VersionRange != (hcl.Range{}) {
		diag.Summary = "Invalid registry module source address"
		diag.Detail += "\n\nThe call has the argument \"version\" as well, so the source has to be a module of a registry."
	}
	return diag
}

// unreadable returns the problem of a local module that can't be read, or nil if err is nil.
func unreadable(call load.ModuleCall, dir string, err error) *hcl.Diagnostic {
	if err == nil {
		return nil
	}
	why := fmt.Sprintf("can't be read: %v.", err)
	if errors.Is(err, fs.ErrNotExist) {
		why = "doesn't exist. Sources that begin with ./ or ../ are relative to the directory of the file that has them."
	}
	return diagnostic.Coded("module_package_not_found", diagnostic.Error(call.SourceRange, "Unreadable module directory",
		"The module %q has to be in the directory %s, which %s", call.Name, dir, why))
}

// Refused is the Extra of a problem with a foreign module's call that leads to files of this
// machine.
type Refused struct{ Err error }

func refused(call load.ModuleCall, summary, format string, args ...any) *hcl.Diagnostic {
	err := fmt.Errorf(format, args...)
	diag := diagnostic.Error(call.SourceRange, summary, "%v.", err)
	diag.Extra = Refused{err}
	return diag
}

// checkReach refuses foreign modules' calls of files of this machine.
func checkReach(s *step) *hcl.Diagnostic {
	remote, ok := s.address.(Remote)
	if !ok || !s.parent.foreign || !remote.isOnMachine() {
		return nil
	}
	return refused(s.call, "Module leads to files of this machine",
		"The source of %s, which the package %q calls, is %q. What comes from a registry, a repository or an archive may use no files of this machine. "+
			"If you want it to, put a copy of the module with this call into your own configuration, and call that by its path",
		s.path, Redact(s.parent.pkg), remote.shown())
}

// escapes returns the problem of a path that leads out of the package that it is in.
func escapes(s *step) *hcl.Diagnostic {
	return refused(s.call, "Local module path escapes module package",
		"The source %q of %s would be outside of the package that it is in, %q. Paths have to stay in their package, also where they lead through symlinks",
		s.call.Source, s.path, Redact(s.home().pkg))
}

// Unlocated is the Extra of a problem about a module whose package a registry didn't locate, or
// that couldn't be fetched.
type Unlocated struct {
	Err error // such as a *getproviders.Fault, whose Hint is in the problem's Detail
}

// unlocated returns the problem of a module whose package a registry didn't locate.
func unlocated(ctx context.Context, s *step, err error, hint func(error) string) *hcl.Diagnostic {
	if ctx.Err() != nil {
		return done[0]
	}
	diag := diagnostic.Error(s.call.Range, headline(err), "The module %q (%s:%d) can't be installed: %s.%s",
		s.call.Name, s.call.Range.Filename, s.call.Range.Start.Line, err, hintOf(hint, err))
	diag.Extra = Unlocated{err}
	return diag
}

func notFetched(s *step, err error, hint func(error) string) *hcl.Diagnostic {
	summary := "Failed to download module"
	if errors.Is(err, ErrNoSubdir) {
		summary = "Unreadable module subdirectory"
		if _, ok := s.address.(Registry); !ok {
			summary = "Failed to expand subdir globs"
		}
	}
	// What git and servers say may end with a full stop.
	diag := diagnostic.Error(s.call.Range, summary, "Could not download the module %q (%s:%d) from %s: %s.%s",
		s.call.Name, s.call.Range.Filename, s.call.Range.Start.Line, shownPackage(s), strings.TrimSuffix(reason(s, err), "."), hintOf(hint, err))
	diag.Extra = Unlocated{err}
	return diag
}

// reason returns the text of an error without the package's address, which the message has already.
// It keeps the address of a registry's package, which the message doesn't have.
func reason(s *step, err error) string {
	failed, ok := errors.AsType[*StepError](err)
	if _, isRegistry := s.address.(Registry); ok && !isRegistry {
		return failed.Brief()
	}
	return err.Error()
}

// hintOf returns what hint says of an error. If hint is nil, it returns the hint of the error, or of an error that it wraps.
func hintOf(hint func(error) string, err error) string {
	if hint != nil {
		return hint(err)
	}
	if hints := getproviders.HintsOf(err); len(hints) > 0 {
		return "\n\nhint: " + hints[0]
	}
	return ""
}

// shownPackage returns the address of a module's package for messages: a registry's module, or the
// URL.
func shownPackage(s *step) string {
	if registry, ok := s.address.(Registry); ok {
		return registry.Package()
	}
	return Remote{Package: s.from.remote.Package}.shown()
}

// outdated returns why a record can't be used, if nothing may be recorded; nil if it can.
func outdated(at places, s *step) *hcl.Diagnostic {
	call, recorded := s.call, s.recorded
	const advice = "Run init (without -get=false) or get, which install modules."
	code := s.unfit(recorded)
	var diag *hcl.Diagnostic
	switch {
	case code == Absent:
		diag = diagnostic.Error(call.Range, "Module not installed", "The module %q is not installed yet. %s", call.Name, advice)
	case code == SourceChanged:
		diag = diagnostic.Error(call.SourceRange, "Module source has changed",
			"The module %q is installed from %q, and its source is %q now. %s", call.Name, Redact(recorded.Source), s.address.shown(), advice)
	case code == VersionChanged:
		diag = diagnostic.Error(call.SourceRange, "Module version requirements have changed",
			"The module %q is installed in version %q, which doesn't satisfy %q. %s", call.Name, recorded.Version, call.Version, advice)
	case isLocalAddress(s.address) && s.strays(at):
		return escapes(s)
	case !at.isDir(recorded.Dir) || s.strays(at):
		code, diag = Absent, diagnostic.Error(call.Range, "Module not installed",
			"The module %q is recorded to be in %s, which is not a directory of its package. %s", call.Name, recorded.Dir, advice)
	default:
		return nil
	}
	diag.Extra = Outdated{s.key, code}
	return diag
}
