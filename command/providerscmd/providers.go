// Package providerscmd is the command "providers", which shows which module
// requires which providers, with the commands below it: lock, mirror, urls and
// verify. The commands "outdated", "why" and "hash" are here, too.
package providerscmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// Commands returns "providers", its subcommands, "outdated", "why" and "hash".
func Commands() []cli.Command {
	return []cli.Command{
		sources.Command[treeOptions](cli.Command{Name: "providers", Synopsis: "Show the providers required for this configuration",
			Usage: "providers [options]", About: treeAbout, More: treeMore,
			Examples: [][2]string{
				{"$TFDEPS providers", "Show which module requires which provider."},
				{"$TFDEPS providers -json", "The same for programs."},
			},
		}, cli.Flags.Alone),
		sources.Command[lockOptions](cli.Command{Name: "providers lock", Synopsis: "Write out dependency locks for the configured providers",
			Usage: "providers lock [options] [providers...]", About: lockAbout, More: lockMore,
			Examples: [][2]string{
				{"$TFDEPS providers lock -platform=linux_amd64 -platform=darwin_arm64", "Record hashes for two platforms."},
				{"$TFDEPS providers lock -check -platform=linux_amd64", "In CI: fail if the lock file lacks a hash."},
			},
		}, cli.Flags.Leading),
		sources.Command[mirrorOptions](cli.Command{Name: "providers mirror", Synopsis: "Save local copies of all required provider plugins",
			Usage: "providers mirror [options] <target-dir>\nproviders mirror [options] s3://BUCKET/PREFIX\nproviders mirror [options] gs://BUCKET/PREFIX\nproviders mirror [options] oci://HOST/PATH/${namespace}/${type}", About: mirrorAbout, More: mirrorMore,
			Examples: [][2]string{
				{"$TFDEPS providers mirror /srv/providers", "Put the packages that the configuration needs into a mirror."},
				{"$TFDEPS providers mirror -versions=all -prune /srv/providers", "Put all allowed versions there, and prune all others."},
			},
		}, cli.Flags.Leading),
		sources.Command[urlsOptions](cli.Command{Name: "providers urls", Synopsis: "Show where the packages of required providers are",
			Usage: "providers urls [options]", About: urlsAbout, More: urlsMore,
			Examples: [][2]string{
				{"$TFDEPS providers urls -json", "List URLs for other programs to download."},
			},
		}, cli.Flags.Leading),
		sources.Command[verifyOptions](cli.Command{Name: "providers verify", Synopsis: "Read installed packages and compare them with the lock file",
			Usage: "providers verify [options]", About: verifyAbout, More: verifyMore,
			Examples: [][2]string{
				{"$TFDEPS providers verify", "Compare this directory's packages with its lock file."},
				{"$TFDEPS providers verify -dir='envs/*'", "Compare those of several directories."},
			},
		}, cli.Flags.Alone),
		sources.Command[outdatedOptions](cli.Command{Name: "outdated", Synopsis: "List providers and modules that have a newer version",
			Usage: "outdated [options]", About: aboutOutdated,
			Examples: [][2]string{
				{"$TFDEPS outdated -recursive", "List newer versions, and what holds them back, in all root modules."},
				{"$TFDEPS outdated -exit-code", "In CI: exit with 2 if an upgrade would find something."},
			},
		}, cli.Flags.Alone),
		sources.Command[whyOptions](cli.Command{Name: "why", Synopsis: "Show which files require a provider or call a module",
			Usage: "why [options] ADDRESS", About: aboutWhy,
			Examples: [][2]string{
				{"$TFDEPS why hashicorp/aws", "Show the files that require a provider, in all root modules."},
				{"$TFDEPS why terraform-aws-modules/vpc/aws", "Show the files that call a module."},
			},
		}, cli.Flags.Mixed),
		sources.Command[hashOptions](cli.Command{Name: "hash", Synopsis: "Show the hashes of provider packages",
			Usage: "hash [options] FILE.zip|DIR...",
			About: `  Shows the hashes that a dependency lock file has for provider packages: h1 of
  the files, and zh of an archive.`, Refused: refusedHash,
			Examples: [][2]string{
				{"$TFDEPS hash terraform-provider-null_3.2.3_linux_amd64.zip", "Show the hashes that a lock file would have for a package."},
			},
		}, cli.Flags.Leading),
	}
}

// treeOptions are the parsed arguments of providers.
type treeOptions struct {
	sources.Reporter
	modules   workdir.Options
	format    string   // of -format, or ""
	policies  []string // of -policy
	stateFile string   // of -state, or ""
}

func (o *treeOptions) Flags() cli.Flags {
	return slices.Concat(cli.Flags{
		o.JSONFlag("Print the JSON object described below"),
		cli.Word("format=cyclonedx", cli.Func(o.setFormat),
			"Print a bill of materials for auditors, as CycloneDX 1.6 in JSON: each provider with source, hashes, signer, and whether the policy refuses it", "What this machine doesn't know, as of packages that aren't installed, is \"unknown\"."),
		sources.PolicyFlag(&o.policies),
		cli.Text("state=FILE", &o.stateFile,
			"Read this state instead of the current workspace's", "\"-\" means standard input, as in\n$PROGRAM state pull | $TFDEPS providers -state=-").
			Or("TFDEPS_STATE", "the state whose providers are needed"),
	}, o.modules.Flags(), cli.Showing())
}

func (o *treeOptions) setFormat(given string) error {
	if o.format = given; given != "cyclonedx" {
		return fmt.Errorf("the only format is %q", "cyclonedx")
	}
	return nil
}

// Report returns which module requires which providers, or nil after an error. Modules are those
// in modules.json: nothing is installed. Terraform doesn't check for which of its versions
// they are.
func (o *treeOptions) Report() (*result.Result, error) {
	s := o.Session
	s.Choose()
	s.Meta.Refuse(s.Log, o.Out.JSON && o.format != "", "Invalid output format", "The -json and -format arguments are mutually exclusive", "-json", "-format")
	s.Meta.Refuse(s.Log, o.policies != nil && o.format == "", "The -policy flag needs -format", "Only with -format does the output say what a policy refuses.", "-policy")
	if !s.Log.Add() {
		return nil, nil
	}
	dir := workdir.Load(s.Meta, s.Product, ".", o.modules)
	switch {
	case dir.InputProblems.HasErrors():
		s.Log.Add(dir.InputProblems...)
		return nil, nil
	case dir.Empty():
		s.Log.Add(dir.NoConfiguration(s.Meta.Dir))
		return nil, nil
	}
	installer := modules.Resolver{Dir: workdir.ModulesDir(s.Meta.Env), Product: s.Product, Mode: modules.AsRecorded}
	if !s.Log.Add(dir.FindModules(s.Meta.Context, installer)...) {
		return nil, nil
	}
	if dir.RootProblems.HasErrors() {
		dir.TakeOutdated() // these reports may be a consequence of the errors
	}
	problems := slices.Concat(dir.InputProblems, dir.RootProblems, dir.ModuleProblems, dir.ProviderProblems)
	if dialect.Of(s.Product).Understands("language") {
		if unfit := dir.Tree.CheckVersion(); unfit.HasErrors() {
			problems = products.ExplainVersion(s.Meta, s.Product, unfit)
		}
	}
	var report result.ProvidersReport
	if !s.Log.Add(problems...) || !s.Log.Add(describeModules(dir, &report)...) || !s.Log.Add(describeState(s, o.stateFile, dir, &report)...) ||
		!s.Log.Add(describeLocks(dir, &report)...) {
		return nil, nil
	}
	if o.format == "" {
		return result.Providers(report), nil
	}
	packages, ok := takeInventory(s, o.policies, dir.Locks, report.Required())
	if !ok {
		return nil, nil
	}
	return result.Inventory(s.Meta.Version, s.Meta.Now(), packages), nil
}

// describeModules adds what each module requires to the report.
func describeModules(dir *workdir.Dir, report *result.ProvidersReport) (problems problem.List) {
	calls := describeCalls(dir)
	for _, m := range dir.Tree.Modules {
		required, diags := m.Config.Requirements()
		problems = append(problems, diags...)
		path := shownPath(dir.Root, m.Config.Path)
		report.Modules = append(report.Modules, result.ModuleProviders{
			Path: path, Key: m.Key, Source: modules.Redact(m.Source), Version: m.Version, Dir: m.Dir, Required: required, Call: calls[path],
		})
	}
	tests, diags := dir.Root.TestRequirements()
	report.Tests, report.TestProviders = dir.Root.Tests, tests
	problems = append(problems, diags...)
	return problems
}

// shownPath returns a module's path with the run of a test named as
// in the drawn tree.
func shownPath(root *load.Module, path string) string {
	for _, run := range root.TestRuns {
		if rest, ok := strings.CutPrefix(path, run.Path()); ok && (rest == "" || rest[0] == '.') {
			return run.Key + rest
		}
	}
	return path
}

// describeCalls returns the calls of modules, by the path of the called module.
func describeCalls(dir *workdir.Dir) map[string]*result.ModuleCall {
	calls := map[string]*result.ModuleCall{}
	for _, m := range dir.Tree.Modules {
		for _, call := range m.Config.Calls {
			path := "module." + call.Name
			if m.Config.Path != "" {
				path = shownPath(dir.Root, m.Config.Path) + "." + path
			}
			calls[path] = describeCall(call)
		}
		for _, run := range m.Config.TestRuns {
			calls[run.Key] = describeCall(run.Call)
		}
	}
	return calls
}

func describeCall(call load.ModuleCall) *result.ModuleCall {
	return &result.ModuleCall{File: call.Range.Filename, Line: call.Range.Start.Line, Version: call.Version}
}

// describeState adds what the state requires to the report. If the state is encrypted or kept by a backend, it only
// warns, because the rest of the report is useful; Terraform prints no report without the state.
func describeState(s *sources.Session, stateFile string, dir *workdir.Dir, report *result.ProvidersReport) problem.List {
	var record *backend.Record
	var err error
	known := true
	if stateFile == "" {
		record, err = backend.Read(nil, workdir.RecordPath(s.Meta.Env), s.Product)
		known = record != nil || dir.Root.Backend == nil
	}
	if known && err == nil {
		report.State, known, err = workdir.ReadState(s.Meta, s.Product, stateFile, record)
	}
	if err != nil {
		return problem.Fail("state", "Failed to load state", "%v", err)
	}
	report.StateUnknown = !known
	why := "The state is kept by a backend, which wasn't asked"
	switch {
	case known:
		return nil
	case record.IsLocal() && (record != nil || dir.Root.Backend == nil):
		why = "The state is encrypted"
	case record == nil:
		return problem.Warn("backend_record", fmt.Sprintf("Backend initialization required, please run %q", s.Program+" init"),
			"State not read: the backend %q isn't initialized here, so there may be providers that only the state requires.", dir.Root.Backend.Type)
	}
	return problem.Warn("", "State not read",
		"%s: there may be providers that only the state requires. To see them, run:\n  %s state pull | %s providers -state=-", why, s.Program, s.Called)
}

// describeLocks adds the locked versions to the report. A lock file that can't be read is an error.
func describeLocks(dir *workdir.Dir, report *result.ProvidersReport) problem.List {
	var problems problem.List
	dir.Locks, problems = depsfile.Load(depsfile.FileName, dir.Product)
	report.Locked = map[getproviders.Provider]result.LockedVersion{}
	for _, lock := range dir.Locks.All() {
		report.Locked[lock.Provider] = result.LockedVersion{Version: lock.Version, Constraints: lock.Constraints}
	}
	return problems
}

// takeInventory returns, for each required provider, what this machine knows about its package, and whether the
// policy refuses it. It sends no request, and writes nothing. It hashes packages without a receipt.
func takeInventory(s *sources.Session, policies []string, locks *depsfile.Locks, required getproviders.Requirements) (packages []result.InventoryPackage, ok bool) {
	s.ReadConfig()
	if !s.ReadPolicy(policies) {
		return nil, false
	}
	cache, rules := s.Cache(), s.Policy
	for _, p := range required.Providers() {
		if p.IsBuiltIn() {
			continue
		}
		found, err := rules.Examine("", cache, locks, getproviders.Requirements{p: required[p]})
		if err != nil {
			return nil, s.Log.Failed("vendored", "Can't compare what is installed", err)
		}
		for _, refusal := range rules.CheckLocks(locks, []getproviders.Provider{p}) {
			found.Refused = cmp.Or[error](found.Refused, refusal)
		}
		lock, _ := locks.Provider(p)
		known := found.Package
		known.Provider, known.Version, known.Platform = p, lock.Version, getproviders.CurrentPlatform()
		packages = append(packages, result.InventoryPackage{
			Candidate: known, Constraints: required.Constraints(p), LockedHashes: lock.Hashes,
			Present: found.Present, HasPolicy: !rules.Rules.IsZero(), Refused: found.Refused,
		})
	}
	return packages, true
}
