package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

// programsIn makes files in the place of programs.
func programsIn(t *testing.T, names ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		must.Succeed(t, os.WriteFile(path, []byte(name), 0o700))
		paths = append(paths, path)
	}
	return paths
}

// after returns the environment of the program that a call is passed on to.
func after(t *testing.T, env cli.Environment, by, to, args string) cli.Environment {
	t.Helper()
	m := &cli.Meta{Env: env, Executable: by, StandIn: &cli.StandIn{Name: "terraform"}}
	env = must.Get(newPasses(m, strings.Fields(args)).with(to))(t)
	return env
}

func TestPasses_RefuseWhatWasStartedForTheSameCall(t *testing.T) {
	programs := programsIn(t, "tfdeps", "terraform", "other")
	tfdeps, terraform, other := programs[0], programs[1], programs[2]
	link := filepath.Join(t.TempDir(), "terraform")
	must.Succeed(t, os.Link(terraform, link))
	above := after(t, cli.Environment{"TF_WORKSPACE=a", "A=b"}, tfdeps, terraform, "plan -input=false")
	deeper := after(t, above, other, link, "output")
	for _, tt := range []struct {
		env  cli.Environment
		args string
		path string
		want bool
	}{
		{nil, "plan", terraform, false},
		{above, "plan -input=false", terraform, true},
		{above, "plan -input=false", link, true},
		{above, "plan -input=false", other, false},
		{above, "plan -input=false", filepath.Join(t.TempDir(), "none"), false},
		{above, "plan", terraform, false},
		{above.With("TF_WORKSPACE=b"), "plan -input=false", terraform, false},
		{above.With("A=c"), "plan -input=false", terraform, true},
		{above, "plan", tfdeps, true},
		{deeper, "plan -input=false", terraform, true},
		{deeper, "output", terraform, true},
		{deeper, "plan", other, true},
		{cli.Environment{passesVariable + "=7"}, "plan", terraform, false},
		{cli.Environment{passesVariable + `=[{"by":1}]`}, "plan", terraform, false},
		{cli.Environment{passesVariable + `=[{}]`}, "plan", terraform, false},
	} {
		m := &cli.Meta{Env: tt.env, Executable: tfdeps, StandIn: &cli.StandIn{Name: "terraform"}}
		must.Equal(t, newPasses(m, strings.Fields(tt.args)).refuses(tt.path), tt.want, tt.path, tt.args, tt.env)
	}
	t.Chdir(t.TempDir())
	m := &cli.Meta{Env: above, Executable: tfdeps, StandIn: &cli.StandIn{Name: "terraform"}}
	if newPasses(m, []string{"plan", "-input=false"}).refuses(terraform) {
		t.Error("a call in another directory was refused")
	}
}

func TestPasses_AreOneVariableAndBounded(t *testing.T) {
	env := cli.Environment{passesVariable + "=3", "A=b", passesVariable + "=4"}
	for range maxPasses {
		env = after(t, env, "/tfdeps", "/terraform", "plan")
	}
	if len(env) != 2 || env.Get("A") != "b" {
		t.Errorf("got %v", env)
	}
	m := &cli.Meta{Env: env, StandIn: &cli.StandIn{Name: "tofu"}}
	must.Contain(t, must.ErrorOf(newPasses(m, nil).with("/tofu")), "TFDEPS_TOFU_PATH")
}
