package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// action is the part of action/action.yml that a runner reads.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Using string
		Steps []struct {
			ID, If, Uses, Shell, Run string
			Dir                      string            `yaml:"working-directory"`
			Env, With                map[string]string `yaml:",omitempty"`
		}
	}
}

var expressions = regexp.MustCompile(`\$\{\{ *([\w.-]+) *\}\}`)

// TestAction_InstallsRestoresAndInitializes runs the action as a runner does: it runs the
// commands of its steps, with the expressions filled in, and reads the files for outputs. It skips
// other actions. The program logs its calls.
func TestAction_InstallsRestoresAndInitializes(t *testing.T) {
	t.Parallel()
	needShell(t)
	bash, url := need(t, "bash"), releaseServer(t, "v1.2.3", asItIs)
	for name, c := range map[string]struct {
		inputs map[string]string
		lock   bool
		want   string
		fails  string
	}{
		"frozen":            {map[string]string{"init": "frozen"}, true, "tfdeps cache key -github|restore /cache k r|tfdeps init -input=false -frozen|tfdeps cache gc -keep-locked .", ""},
		"by default":        {nil, true, "tfdeps cache key -github|restore /cache k r|tfdeps init -input=false -lockfile=readonly|tfdeps cache gc -keep-locked .", ""},
		"without lock file": {map[string]string{"init": "default"}, false, "tfdeps init -input=false", ""},
		"without init":      {map[string]string{"init": "none"}, true, "tfdeps cache key -github|restore /cache k r|tfdeps cache gc -keep-locked .", ""},
		"a misspelt init":   {map[string]string{"init": "forzen"}, false, "", `init is "forzen"`},
		"a command as init": {map[string]string{"init": "$(tfdeps oops)"}, false, "", `init is "$(tfdeps oops)"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, bash, url, "v1.2.3")
			r.values["inputs.working-directory"] = "a b"
			for input, value := range c.inputs {
				r.values["inputs."+input] = value
			}
			if c.lock {
				r.write("a b/.terraform.lock.hcl", "")
			} else {
				r.write("a b/main.tf", "")
			}
			out, err := r.run("action/action.yml")
			equal(t, err != nil, c.fails != "", out)
			contain(t, out, c.fails)
			if got := strings.ReplaceAll(strings.TrimSpace(r.file("calls")), "\n", "|"); c.fails == "" {
				equal(t, got, c.want)
			} else if strings.Contains(got, "oops") {
				t.Error("an input was run as a command")
			}
			equal(t, r.file("env"), "TFDEPS_PRODUCT=terraform\n", "the environment of later steps")
		})
	}
}

// TestAction_OfACommitInstallsItsVersion: an action pinned to a commit installs the release of that commit, or builds it with Go.
func TestAction_OfACommitInstallsItsVersion(t *testing.T) {
	t.Parallel()
	needShell(t)
	bash, url := need(t, "bash"), releaseServer(t, "v1.2.3", asItIs)
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for name, c := range map[string]struct{ ref, changes, want string }{
		"a release":      {commit, "# Changelog\n\n## 1.2.3 (a day)\n\n## 1.2.2\n", "tfdeps v1.2.3 is installed"},
		"between two":    {commit, "# Changelog\n\n## Unreleased\n\n## 1.2.3\n", "go install github.com/tfdeps/tfdeps@" + commit},
		"a branch":       {"main", "# Changelog\n\n## Unreleased\n", "go install github.com/tfdeps/tfdeps@main"},
		"a checkout":     {"", "# Changelog\n\n## Unreleased\n", "go install . in tfdeps"},
		"a tag, as ever": {"v1.2.3", "# Changelog\n\n## Unreleased\n", "tfdeps v1.2.3 is installed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, bash, url, c.ref)
			r.values["inputs.init"] = "none"
			r.write("tfdeps/.release/install.sh", read(t, "install.sh"))
			r.write("tfdeps/CHANGELOG.md", c.changes)
			r.write("bin/go", "#!/bin/sh\necho \"go $* in ${PWD##*/}\"\n")
			succeed(t, os.Chmod(r.path("bin/go"), 0o755))
			r.write("path", r.path("bin"))
			r.write("main.tf", "")
			succeed(t, os.MkdirAll(r.path("tfdeps/.release/action"), 0o755))
			r.values["github.action_path"] = r.path("tfdeps/.release/action")
			out, err := r.run("action/action.yml")
			contain(t, out, c.want)
			succeed(t, err)
			equal(t, strings.Contains(out, "go install"), strings.Contains(c.want, "go install"), out)
		})
	}
}

// In the workflows and in the action, other actions are pinned to a commit, which can't be moved.
func TestWorkflows_PinActions(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join("..", ".github", "workflows", "*.yml"))
	if err != nil || len(names) < 2 {
		t.Fatalf("%v: there are %v", err, names)
	}
	pinned := regexp.MustCompile(`uses: +[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d`)
	for _, name := range append(names, "action/action.yml") {
		for line := range strings.Lines(read(t, name)) {
			if strings.Contains(line, "uses:") && !pinned.MatchString(line) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// runner is one job.
type runner struct {
	t         *testing.T
	dir, bash string
	values    map[string]string // of expressions
}

func newRunner(t *testing.T, bash, url, ref string) runner {
	return runner{t, t.TempDir(), bash, map[string]string{"github.action_ref": ref, "inputs.downloads": url, "inputs.key": publicText(throwAwayKey())}}
}

func (r runner) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r runner) file(name string) string {
	content, _ := os.ReadFile(r.path(name))
	return string(content)
}

func (r runner) write(name, content string) {
	r.t.Helper()
	write(r.t, r.path(name), content)
}

// run runs the steps of an action until one fails, and returns what they print.
func (r runner) run(name string) (string, error) {
	r.t.Helper()
	var a action
	succeed(r.t, yaml.UnmarshalWithOptions([]byte(read(r.t, name)), &a, yaml.AllowDuplicateMapKey()))
	if a.Runs.Using != "composite" || len(a.Runs.Steps) < 4 {
		r.t.Fatalf("the action is %+v", a.Runs)
	}
	absolute := get(filepath.Abs(filepath.Dir(name)))(r.t)
	if r.values["github.action_path"] == "" {
		r.values["github.action_path"] = absolute
	}
	for input, about := range a.Inputs {
		if _, given := r.values["inputs."+input]; !given {
			r.values["inputs."+input] = r.fill(about.Default)
		}
	}
	printed := ""
	for _, step := range a.Runs.Steps {
		if condition, ok := strings.CutSuffix(step.If, " != ''"); ok && r.values[condition] == "" {
			continue
		} else if step.If != "" && !ok {
			r.t.Fatalf("the condition %q is none that this test knows", step.If)
		}
		if step.Uses != "" {
			r.write("calls", r.file("calls")+"restore "+r.fill(step.With["path"])+" "+r.fill(step.With["key"])+" "+r.fill(step.With["restore-keys"])+"\n")
			continue
		}
		cmd := exec.Command(r.bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = r.path(r.fill(step.Dir))
		cmd.Env = []string{"PATH=" + strings.TrimSpace(r.file("path")) + ":" + os.Getenv("PATH"), "HOME=" + r.dir, "CALLS=" + r.path("calls"), "RUNNER_TEMP=" + r.path("temp"),
			"GITHUB_PATH=" + r.path("path"), "GITHUB_ENV=" + r.path("env"), "GITHUB_OUTPUT=" + r.path("output")}
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+r.fill(value))
		}
		out, err := cmd.CombinedOutput()
		printed += string(out)
		if err != nil {
			return printed, err
		}
		for line := range strings.Lines(r.file("output")) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			r.values["steps."+step.ID+".outputs."+key] = value
		}
	}
	return printed, nil
}

// fill replaces expressions by their values.
func (r runner) fill(text string) string {
	return expressions.ReplaceAllStringFunc(text, func(expression string) string {
		name := expressions.FindStringSubmatch(expression)[1]
		value, ok := r.values[name]
		if !ok {
			r.t.Errorf("%s has no value", name)
		}
		return value
	})
}
