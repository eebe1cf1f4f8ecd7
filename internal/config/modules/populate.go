package modules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// Populate copies the module of a source address into a directory, to begin a new configuration.
// The directory must be empty, except for names that begin with a dot. Such names aren't copied
// either, at any depth. Source addresses are those of configurations, but local paths are relative
// to the working directory of the process. For a module without calls it writes an empty record to
// Dir; the calls of other modules are recorded by [Resolver.Resolve].
//
// It refuses to copy a foreign module that calls files of this machine, or files outside its
// directory. Calls may depend on values that are unknown yet: see [Resolver.CopiedFrom].
//
// A module with errors isn't copied: they are hcl.Diagnostics in the error. After an error the
// copied files are removed. The summary is a headline for the error.
func (in Resolver) Populate(ctx context.Context, source, dir string) (summary string, err error) {
	const failed = "Failed to download module"
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") { // it would be overwritten
			return "Can't populate non-empty directory", fmt.Errorf("the directory is not empty: it has %s", entry.Name())
		}
	}
	if err != nil {
		return failed, err
	}
	address, err := ParseAddress(source, in.Product)
	if err != nil {
		return invalidAddress, &getproviders.Fault{Code: "invalid_module_source", Err: err}
	}
	if local, ok := address.(Local); ok {
		return failed, in.copyModule(ctx, filepath.FromSlash(string(local)), dir)
	}
	if in.Allow != nil {
		if err := in.Allow(address, ">= 0"); err != nil { // no call, so no constraint
			return refusedByPolicy, &getproviders.Fault{Code: "refused_by_policy", Err: err}
		}
	}
	from, _, err := in.locate(ctx, address, "")
	if fault, ok := errors.AsType[*getproviders.Fault](err); ok && fault.Host != "" {
		return headline(err), err
	}
	if err != nil {
		return failed, err
	}
	stage, err := newStage(in.Dir)
	if err != nil {
		return failed, err
	}
	defer stage.remove()
	pkg := stage.at("root")
	_, subdir, err := in.fetch(ctx, from, pkg)
	if err != nil {
		return failed, err
	}
	if isForeign(address) {
		in.CopiedFrom = source
	}
	return failed, in.copyModule(ctx, filepath.Join(pkg, filepath.FromSlash(subdir)), dir)
}

// copyModule copies a directory recursively. It refuses a module that calls directories beside it,
// which wouldn't be copied.
func (in Resolver) copyModule(ctx context.Context, from, to string) (err error) {
	module, problems := load.LoadModuleWith(from, in.Product, load.Options{Within: from})
	if problems.HasErrors() {
		return problems
	}
	for _, call := range module.Calls {
		if strings.HasPrefix(call.Source, "../") || strings.HasPrefix(call.Source, `..\`) {
			return fmt.Errorf("the module calls %q, which is in a parent directory (%q) and would not be copied with it", call.Name, call.Source)
		}
	}
	if err := in.checkCopied(ctx, module); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", from)
	}
	if err != nil {
		return err
	}
	err = os.CopyFS(to, visible{ctx, os.DirFS(from)})
	if err == nil && len(module.Calls) == 0 && in.Dir != "" {
		err = Manifest{}.Save(in.Dir)
	}
	if err != nil {
		removeVisible(to)
	}
	return err
}

// checkCopied refuses a foreign module whose copy would call files of this machine. It fetches no
// packages.
func (in Resolver) checkCopied(ctx context.Context, module *load.Module) error {
	if in.CopiedFrom == "" {
		return nil
	}
	_, problems := Resolver{Product: in.Product, CopiedFrom: in.CopiedFrom}.Resolve(ctx, module, nil)
	for _, p := range problems {
		if refused, ok := p.Extra.(Refused); ok {
			return refused.Err
		}
	}
	return context.Cause(ctx)
}

// removeVisible empties a directory, except for names that begin with a dot.
func removeVisible(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			_ = patient.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
}

// visible is a file system that hides names that begin with a dot. Its directories can't be read after the context ends.
type visible struct {
	ctx context.Context
	fs.FS
}

// ReadDir implements [fs.ReadDirFS].
func (v visible) ReadDir(name string) (shown []fs.DirEntry, err error) {
	entries, err := fs.ReadDir(v.FS, name)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			shown = append(shown, entry)
		}
	}
	return shown, errors.Join(err, context.Cause(v.ctx))
}

// ReadLink implements [fs.ReadLinkFS].
func (v visible) ReadLink(name string) (string, error) { return fs.ReadLink(v.FS, name) }

// Lstat implements [fs.ReadLinkFS].
func (v visible) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(v.FS, name) }
