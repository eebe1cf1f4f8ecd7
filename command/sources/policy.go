package sources

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

// policyVariable names further files with rules.
const policyVariable = "TFDEPS_POLICY"

// Policy is what refuses packages. The zero value refuses none.
type Policy struct {
	rules policy.Policy
	now   func() time.Time
}

// ReadPolicy reads the rules that count for the current directory: those of the machine, of
// the files that the variable names, and of the repository. All of them have to hold.
func ReadPolicy(m *cli.Meta, product getproviders.Product) (Policy, problem.List) {
	paths, problems := policyFiles(m)
	p := Policy{now: m.Now}
	for _, path := range paths {
		rules, diags := policy.Load(path, product)
		problems = append(problems, diags...)
		p.rules = policy.All(p.rules, rules)
	}
	return p, problems
}

// Against returns the policy as fetcher.Fetcher has it; nil if it refuses nothing. A version
// is a downgrade if it is older than the one in the lock file; nil: there is no lock file.
func (p Policy) Against(locks *depsfile.Locks) func(context.Context, fetcher.Candidate) error {
	return p.rules.Hook(policy.HookOptions{Now: p.now, Newest: func(of getproviders.Provider) getproviders.Version {
		lock, _ := locks.Provider(of)
		return lock.Version
	}})
}

// policyFiles lists the files with rules.
func policyFiles(m *cli.Meta) (paths []string, problems problem.List) {
	if path := machinePolicy(m.Env); path != "" {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, path)
		}
	}
	for _, path := range filepath.SplitList(m.Env.Get(policyVariable)) {
		if path != "" {
			paths = append(paths, path)
		}
	}
	path, err := policy.Find(".")
	if err != nil {
		return nil, append(problems, problem.Error("Can't use the policy", problem.Sentence(err)))
	}
	if path != "" {
		if short, err := filepath.Rel(cli.WorkingDirectory(), path); err == nil {
			path = short
		}
		paths = append(paths, path)
	}
	return paths, problems
}

// machinePolicy is the path of the rules for all users of a machine; "": there is
// no such place.
func machinePolicy(env cli.Environment) string {
	if runtime.GOOS != "windows" {
		return "/etc/tfdeps/" + policy.FileName
	}
	data := env.Get("ProgramData")
	if !filepath.IsAbs(data) {
		return ""
	}
	return filepath.Join(data, "tfdeps", policy.FileName)
}
