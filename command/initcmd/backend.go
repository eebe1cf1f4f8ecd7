package initcmd

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// initBackend records the backend that the configuration names, and sends it no request.
// It returns errors, to be explained together with those of the configuration, because they
// don't matter if the configuration needs another version of the product. Warnings go to the log.
func initBackend(r request, dir *workdir.Dir) (*backend.Record, problem.List) {
	record, problems := workdir.ReadRecord(r.Meta.Env, r.Product)
	if !r.opts.backend.initialize || r.opts.backend.with != "" {
		return record, problems
	}
	block := dir.Root.Backend
	r.view.BackendBegin(block != nil && block.Type == backend.Cloud)
	if problems.HasErrors() || block != nil && block.Body == nil {
		if block != nil {
			problems = append(problems, block.Problems...)
		}
		return record, problems
	}
	b := backendState{request: r, block: block, record: record}
	var found problem.Log
	found.Add(b.configure()...)
	warnings, errors := found.Split()
	r.Log.Add(warnings...)
	return b.record, errors
}

// configure compares the block with the record, and updates the record.
func (b *backendState) configure() (problems problem.List) {
	if _, err := workdir.Workspace(b.Meta.Env, b.Product); err != nil {
		summary := "Invalid workspace name"
		if b.Meta.Env.Get("TF_WORKSPACE") != "" {
			summary += " set using TF_WORKSPACE"
		}
		return problem.Failed("invalid_variable", summary, err)
	}
	isOverridden := len(b.opts.backend.config) > 0
	switch {
	case b.block == nil && isOverridden:
		problems = append(problems, problem.Warningf("backend_configuration", "Missing backend configuration",
			"The option -backend-config has no effect, because the configuration has no \"backend\" block. "+
				"If state is to stay in local files, nothing needs to be done; this block silences the warning:\n\n"+
				"terraform {\n  backend \"local\" {}\n}"))
	case b.isCloud() && isOverridden:
		return problem.List{problem.At(b.block.Range, problem.Error("invalid_option", "Invalid command-line option",
			"The option -backend-config is for backends that keep state, and there is a cloud block. Change that block instead."))}
	}
	known := b.record
	if b.opts.backend.reconfigure && b.block != nil {
		known = nil
	}
	config, change, found := b.compare(known)
	switch {
	case !found.HasErrors():
		return slices.Concat(problems, found, b.settle(config, change))
	case !isOverridden && (change == backend.Changed || change == backend.Replaced):
		return append(append(problems, b.changed(true)), found...)
	default:
		return append(problems, found...)
	}
}

// checkEncryption checks OpenTofu's settings for the encryption of states, unless -backend=false is given.
func checkEncryption(r request, dir *workdir.Dir) problem.List {
	if !dialect.Of(r.Product).Understands("encryption") || !r.opts.backend.initialize || dir.RootProblems.HasErrors() {
		return nil
	}
	return dir.Root.CheckEncryption(r.Meta.Env.Get(load.EncryptionVariable))
}

// compare decodes the block, and compares it with the record. If the block hasn't changed since it was recorded, the record's values
// are checked in place of the block's, which -backend-config may have completed then.
func (b *backendState) compare(known *backend.Record) (*backend.Config, backend.Change, problem.List) {
	isOverridden := len(b.opts.backend.config) > 0
	if b.block == nil {
		return nil, known.Compare(nil, isOverridden), nil
	}
	config, problems := b.decode()
	if config == nil {
		return nil, backend.None, problems
	}

	change := known.Compare(config, isOverridden)
	isComplete := !problems.HasErrors()
	if change == backend.Unchanged {
		problems = slices.DeleteFunc(problems, isError)
		problems = append(problems, known.Check(*b.block, b.decodeOptions())...)
	}
	if isComplete {
		problems = append(problems, b.checkCloud(config)...)
	}
	return config, change, problems
}

func isError(p *problem.Problem) bool { return !problem.IsWarning(p) }

// decode reads the block and the values of -backend-config.
func (b *backendState) decode() (*backend.Config, problem.List) {
	if len(b.block.Problems) > 0 {
		return nil, b.block.Problems
	}
	return backend.Decode(b.Meta.Context, *b.block, b.decodeOptions())
}

func (b *backendState) decodeOptions() backend.Options {
	return backend.Options{Product: b.Product, Overrides: b.opts.backend.config, Getenv: b.Meta.Env.Get}
}

// settle writes the record, unless state would have to be moved first.
func (b *backendState) settle(config *backend.Config, change backend.Change) problem.List {
	switch change {
	case backend.None:
		return nil
	case backend.Unchanged:
		return selectExisting(b.request, b.record)
	case backend.Added, backend.Changed, backend.Replaced, backend.Removed:
		if problems := b.checkLeftBehind(config); problems.HasErrors() {
			return problems
		}
		if change == backend.Removed {
			b.record = nil
			if err := patient.Remove(workdir.RecordPath(b.Meta.Env)); err != nil {
				return problem.Fail("backend_record", "Failed to remove the record of the backend", "%v", err)
			}
			return nil
		}
		change = backend.Added
	}
	next, err := backend.NewRecord(config, b.Product)
	if err != nil {
		return problem.Unsaved("backend_record", "Failed to record the backend", err)
	}
	if change == backend.Rehashed {
		next = b.record.Renumbered(next)
	}
	if problems := selectExisting(b.request, next); problems.HasErrors() {
		return problems
	}
	if problems := selectDefault(b.request, next); problems.HasErrors() {
		return problems
	}
	if err := next.Save(workdir.RecordPath(b.Meta.Env)); err != nil {
		return problem.Unsaved("backend_record", "Failed to record the backend", err)
	}
	b.record = next
	switch name := config.Workspace(); {
	case change != backend.Added:
	case config.Type != backend.Cloud:
		b.view.BackendConfigured(config.Type)
	case name != "": // a cloud block with a name has one workspace
		return selectWorkspace(b.request, name)
	}
	return nil
}

// checkCloud checks that organization and workspaces are given, because
// init sends no request, and otherwise only plan would notice.
func (b *backendState) checkCloud(config *backend.Config) (problems problem.List) {
	if config.Type != backend.Cloud {
		return nil
	}
	refuse := func(wrong bool, summary, format string, args ...any) {
		if wrong {
			problems = append(problems, problem.At(b.block.Range, problem.Errorf("backend_configuration", summary, format, args...)))
		}
	}
	isMissing := func(argument, variable string) bool {
		return config.Text(argument) == "" && b.Meta.Env.Get(variable) == ""
	}
	name, selected := config.Workspace(), b.Meta.Env.Get("TF_WORKSPACE")
	refuse(isMissing("organization", "TF_CLOUD_ORGANIZATION"), "Invalid or missing required argument",
		"The cloud block needs an \"organization\", or the variable TF_CLOUD_ORGANIZATION has to be set.")
	refuse(dialect.Of(b.Product).Understands("cloud_hostname") && isMissing("hostname", "TF_CLOUD_HOSTNAME"), "Hostname is required for the cloud backend",
		"OpenTofu has no service of its own: the cloud block needs a \"hostname\", or the variable TF_CLOUD_HOSTNAME has to be set.")
	refuse(name == "" && !config.HasTags() && selected == "", "Invalid workspaces configuration",
		"The cloud block needs a \"workspaces\" block with \"name\" or \"tags\", or the variable TF_WORKSPACE has to be set.")
	refuse(name != "" && selected != "" && selected != name, "Invalid workspaces configuration",
		"The cloud block is for the workspace %q, and TF_WORKSPACE selects %q. Make them the same, or leave one of them out.", name, selected)
	return problems
}

// selectExisting checks that the selected workspace exists, for a backend with local files.
// If it doesn't exist and the default workspace is the only one, selectExisting selects that.
func selectExisting(r request, record *backend.Record) problem.List {
	if _, err := workdir.SupportedWorkspace(r.Meta.Env, r.Product, record); err != nil {
		return problem.Failed("state", "Error loading state", err)
	}
	missing, others, problems := missingWorkspace(r, record)
	if missing == "" || problems.HasErrors() {
		return problems
	}
	if others {
		return problem.List{doesNotExist(r, missing)}
	}
	return selectWorkspace(r, backend.DefaultWorkspace)
}

// selectDefault selects the default workspace, as Terraform does for a backend that is recorded for the first time, if
// TF_WORKSPACE names one that doesn't exist and there are no others. The variable still counts as long as it is set.
func selectDefault(r request, record *backend.Record) problem.List {
	name := r.Meta.Env.Get("TF_WORKSPACE")
	if name == "" || !record.IsLocal() {
		return nil
	}
	files := record.LocalFiles()
	if files.HasWorkspace(name) {
		return nil
	}
	others, err := files.HasOthers()
	if err != nil {
		return problem.Fail("workspace", "Failed to select a workspace", "%v", err)
	}
	if others {
		return nil
	}
	return selectWorkspace(r, backend.DefaultWorkspace)
}

// missingWorkspace returns the name of the selected workspace if it doesn't exist,
// and whether there are others beside the default one. A workspace that TF_WORKSPACE names
// is created when it is needed.
func missingWorkspace(r request, record *backend.Record) (name string, others bool, problems problem.List) {
	if !record.IsLocal() || r.Meta.Env.Get("TF_WORKSPACE") != "" {
		return "", false, nil
	}
	name, err := workdir.Workspace(r.Meta.Env, r.Product)
	files := record.LocalFiles()
	if err != nil || files.HasWorkspace(name) { // configure has reported the error
		return "", false, nil
	}
	others, err = files.HasOthers()
	if err != nil {
		return "", false, problem.Fail("workspace", "Failed to select a workspace", "%v", err)
	}
	return name, others, nil
}

func doesNotExist(r request, name string) *problem.Problem {
	return problem.Errorf("workspace", fmt.Sprintf("Currently selected workspace %q does not exist", name),
		"It is selected in %s. Remove that file to use the default workspace, or set TF_WORKSPACE to the name of an existing or a new one.",
		workdir.WorkspacePath(r.Meta.Env))
}

// selectWorkspace records which workspace is selected.
func selectWorkspace(r request, name string) problem.List {
	if err := wholefile.Save(workdir.WorkspacePath(r.Meta.Env), []byte(name), 0o644); err != nil {
		return problem.Fail("workspace", "Failed to select a workspace", "%v", err)
	}
	return nil
}

// defaultCloudHost is the default host of cloud and remote backends.
const defaultCloudHost = "app.terraform.io"

// cloudHost returns the host of the cloud block or the remote backend, or "" without one.
func cloudHost(r request, dir *workdir.Dir) hosts.Hostname {
	block := dir.Root.Backend
	if block == nil || block.Type != backend.Cloud && block.Type != "remote" {
		return ""
	}
	config, problems := (&backendState{request: r, block: block}).decode()
	if problems.HasErrors() {
		return ""
	}
	host, _ := hosts.ParseHostname(cmp.Or(config.Text("hostname"), r.Meta.Env.Get("TF_CLOUD_HOSTNAME"), defaultCloudHost))
	return host
}

// aliasCloud makes localterraform.com an alias of that host in addresses of providers and modules, as the real programs do.
func aliasCloud(r request, dir *workdir.Dir) {
	if host := cloudHost(r, dir); host != "" && r.Aliases != nil {
		told := r.Log.All
		r.Connect(r.opts.offlineBy, host)
		r.Log.All = told // the first Connect has logged its problems
	}
}
