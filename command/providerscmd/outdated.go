package providerscmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

type outdatedOptions struct {
	packageOptions
	exitCode bool
}

func (o *outdatedOptions) Flags() cli.Flags {
	o.from = "config"
	return slices.Concat(o.roots.Flags("Look at this directory instead of the current one", "May be given more than once, and be a pattern such as envs/*."), cli.Flags{
		cli.Switch("exit-code", &o.exitCode, "Exit with 2 if a newer version is allowed"),
		o.JSONFlag("Print a JSON object: dependencies, each with directory, kind, name, locked, allowed, newest and held_by; also those that are up to date"),
	}, o.sourceFlags("origin", "Ask each provider's own registry, whatever the CLI configuration says"), o.modules.Flags(), cli.Flags{cli.NoColor()})
}

const aboutOutdated = `  Lists providers, and modules of registries and git repositories, that have a
  newer version: the locked or recorded version, the newest that constraints and
  policies allow, the newest of all, and what holds it back, in which file and
  line. Each registry and repository is asked once; nothing is changed.
  "$TFDEPS init -upgrade" installs the allowed versions.

  Prereleases count only where a constraint names one. In a git repository, tags
  count that are versions with the same prefix as the ref of the call.`

// Report looks for newer versions, and returns the report.
func (o *outdatedOptions) Report() (*result.Result, error) {
	o.checkSource()
	remembering := *o.Meta
	remembering.Remembers = true
	o.Meta, o.each = &remembering, true
	var found []result.Dependency
	if o.Choose(o.problems.All...) {
		found = o.outdated()
	}
	if len(found) == 0 && o.Log.All.HasErrors() {
		return nil, nil // it is unknown whether anything is outdated
	}
	if o.exitCode && slices.ContainsFunc(found, result.Dependency.HasNewer) {
		o.Out.Code = cli.ExitDiffers
	}
	return result.Outdated(found), nil
}

// outdated looks for newer versions. After an error of a directory or a source, which it logs, it continues with the others.
func (o *outdatedOptions) outdated() (found []result.Dependency) {
	if !o.connect() {
		return nil
	}
	dirs, _ := o.read()
	fetcher := o.Hosts.Modules(o.Product, "")
	defer fetcher.Close()
	w := newer{o.Session, fetcher, o.Registries(o.Product, "")}
	var asked []func(context.Context) (result.Dependency, error)
	for _, d := range dirs {
		chooser := o.Fetcher(func(event.Event) {})
		chooser.Choice = d.rules.Versions()
		for _, p := range d.required.Providers() {
			if !p.IsBuiltIn() {
				asked = append(asked, func(ctx context.Context) (result.Dependency, error) { return w.provider(ctx, d, p, chooser) })
			}
		}
		for key, call := range ownCalls(d.Dir.Tree) {
			asked = append(asked, func(ctx context.Context) (result.Dependency, error) { return w.module(ctx, d, key, call) })
		}
	}
	const many = 16 // at once
	rows, errs := par.Map(o.Meta.Context, many, asked, func(ctx context.Context, ask func(context.Context) (result.Dependency, error)) (result.Dependency, error) {
		return ask(ctx)
	})
	told := map[string]bool{} // many directories may fail with the same error
	for i, row := range rows {
		if errs[i] == nil {
			if row.Name != "" {
				found = append(found, row)
			}
		} else if text := o.Explained(errs[i]); !told[text] {
			told[text] = true
			o.Log.Add(problem.Because(errs[i], problem.Error("request_failed", "Can't find the available versions", text)))
		}
	}
	slices.SortFunc(found, func(a, b result.Dependency) int {
		return cmp.Or(strings.Compare(a.Directory, b.Directory), -strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Key, b.Key))
	})
	return found
}

// newer finds newer versions.
type newer struct {
	in         *sources.Session
	fetcher    *fetch.Fetcher
	registries *modules.Registries
}

// provider looks for newer versions of a provider; the chooser applies the policies.
func (w newer) provider(ctx context.Context, d directory, p getproviders.Provider, chooser *providercache.Fetcher) (row result.Dependency, err error) {
	available, err := w.in.Source.Versions(ctx, p)
	if err != nil {
		return row, err
	}
	row = result.Dependency{Directory: d.Path, Kind: "provider", Name: w.in.Short(p)}
	if lock, ok := d.Locks.Provider(p); ok {
		row.Locked = lock.Version
	}
	chosen := getproviders.Selection{Provider: p, Constraints: d.required.Constraints(p)}
	allowed, left, _ := chooser.Opened().Resolver().Choose(ctx, chosen, available)
	if row.Allowed = allowed; left.Unknown != nil {
		return row, fmt.Errorf("the policy can't be applied to %s %s: %w", p, allowed, left.Unknown)
	}
	row.Newest = newest(allowed, available.Versions)
	called := map[string]*modules.Module{} // by the path in the tree
	for _, m := range d.Tree.Modules {
		called[m.Config.Path] = m
	}
	for _, req := range d.required[p] {
		if req.Constraints.Allows(row.Newest) {
			continue
		}
		held := placeIn(d.Tree, called[req.Pos.Module], req.Constraints.String(), req.Pos.File, req.Pos.Line)
		if !slices.Contains(row.HeldBy, held) { // each call of a module requires it
			row.HeldBy = append(row.HeldBy, held)
		}
	}
	if len(left.Versions) > 0 {
		if refusal, ok := errors.AsType[*policy.Refusal](left.Versions[0].Err); ok {
			row.HeldBy = append(row.HeldBy, result.Holder{Constraint: "rule " + refusal.Rule, File: refusal.Pos.File, Line: refusal.Pos.Line})
		}
	}
	return row, nil
}

// newest returns the newest of than, which may be zero, and the releases in all.
func newest(than getproviders.Version, all []getproviders.Version) getproviders.Version {
	for _, v := range all {
		if v.Prerelease == "" && v.Compare(than) > 0 {
			than = v
		}
	}
	return than
}

// module looks for newer versions of a module from a registry, or from a git repository if its ref is a version tag; the row is zero for all others.
func (w newer) module(ctx context.Context, d directory, key string, call load.ModuleCall) (row result.Dependency, err error) {
	address, err := modules.ParseAddress(call.Source, w.in.Product)
	if err != nil {
		return row, nil // o.read has reported the error
	}
	row = result.Dependency{Directory: d.Path, Kind: "module", Key: key, Name: modules.Redact(call.Source)}
	held := result.Holder{File: call.SourceRange.Filename, Line: call.SourceRange.Start.Line, Constraint: call.Version}
	var all []string
	switch address := address.(type) {
	case modules.Registry:
		if all, err = w.registries.Versions(ctx, address); err != nil {
			return row, err
		}
		if chosen, err := w.registries.Select(ctx, address, call.Version); err == nil {
			row.Allowed, _ = getproviders.ParseVersion(chosen.Version)
		}
		row.Locked, _ = getproviders.ParseVersion(d.Tree.Manifest[key].Version)
		if call.Version != "" {
			held.Line, held.File = call.VersionRange.Start.Line, call.VersionRange.Filename
		}
	case modules.Remote:
		tags, ref, err := w.fetcher.Tags(ctx, address.Package)
		if err != nil || tags == nil {
			return result.Dependency{}, err
		}
		prefix := taggedVersion().ReplaceAllString(ref, "$1$3")
		if row.Locked, err = getproviders.ParseVersion(ref[len(prefix):]); err != nil {
			return result.Dependency{}, nil
		}
		for _, tag := range tags {
			if text, ok := strings.CutPrefix(tag, prefix); ok {
				all = append(all, text)
			}
		}
		row.Allowed, held.Constraint = row.Locked, "ref="+ref
	default:
		return result.Dependency{}, nil
	}
	var versions []getproviders.Version
	for _, text := range all {
		if v, err := getproviders.ParseVersion(text); err == nil {
			versions = append(versions, v)
		}
	}
	if row.Newest = newest(row.Allowed, versions); row.Newest != row.Allowed {
		row.HeldBy = []result.Holder{held}
	}
	return row, nil
}

// taggedVersion splits a tag into the prefix and the version, which may be a prerelease: v1.0.0-rc.1.
var taggedVersion = par.OnceRegexp(`^(.*[^\d.]|)(\d+\.\d.*)$|^(.*\D|)(\d+)$`)

// ownCalls returns the calls in the directory's own modules, by the keys of the called modules. The user can't change calls in other packages.
func ownCalls(tree *modules.Tree) map[string]load.ModuleCall {
	if tree == nil {
		return nil
	}
	calls, own := map[string]load.ModuleCall{}, map[string]bool{"": true}
	for _, m := range tree.Modules {
		if !own[m.Key] {
			continue
		}
		for _, call := range m.Config.Calls {
			key := strings.TrimPrefix(m.Key+"."+call.Name, ".")
			calls[key] = call
			own[key] = strings.HasPrefix(filepath.ToSlash(call.Source), ".")
		}
	}
	return calls
}
