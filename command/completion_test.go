package command

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestCandidates(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Write(t, ".terraform.lock.hcl", locked("1.0.0", "zh:"+zeros64))
	m := &cli.Meta{Env: cli.Environment{"TFDEPS_CACHE_DIR=" + t.TempDir()}}
	for line, want := range map[string]string{
		"tfdeps pro":                         "providers",
		"tfdeps providers ":                  "lock mirror urls verify",
		"tfdeps help cache v":                "verify",
		"tfdeps init -li":                    "-link=",
		"tfdeps init -fro":                   "-from-module= -frozen",
		"tfdeps init -link=c":                "-link=clone -link=copy",
		"tfdeps init -upgrade -lockfile=":    "-lockfile=readonly",
		"tfdeps init -with=":                 "-with=terraform -with=tofu",
		"tfdeps providers lock -platform=da": "-platform=darwin_amd64 -platform=darwin_arm64",
		"tfdeps providers lock tf.":          "tf.example.com/acme/tiny",
		"tfdeps cache clean ":                "tf.example.com/acme/tiny",
		"tfdeps completion ":                 "bash fish powershell zsh",
		"tfdeps -chd":                        "-chdir=",
		"tfdeps init -link=zzz":              "",
		"tfdeps nothing -":                   "-help -help=all",
		"tfdeps nothing -link=":              "",
		"tfdeps":                             "cache completion doctor get hash help init outdated policy providers roots serve vendor version why",
		"tfdeps policy ":                     "check",
	} {
		var got []string
		for _, c := range candidates(m, line) {
			got = append(got, c.word)
		}
		slices.Sort(got)
		must.Equal(t, strings.Join(got, " "), want, line, got)
	}
	must.Equal(t, candidates(m, "tfdeps providers verify -vend")[0].what, "Look into terraform.d/plugins instead")
}

// TestCompletion_InBash sources the script for bash, with a function in the place of the program: it checks
// the function's arguments, and the completions from its output.
func TestCompletion_InBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	script := filepath.Join(t.TempDir(), "test.bash")
	content := completionScripts["bash"] + `
tfdeps() { if [[ $2 == *pro ]]; then echo providers; else echo -link=clone; echo -link=copy; fi; }
for line in "tfdeps pro" "tfdeps init -link=c"; do
  COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
  _tfdeps
  echo "${COMPREPLY[*]}"
done
`
	must.Write(t, script, content)
	out, err := exec.Command(bash, "--norc", script).CombinedOutput()
	must.Succeed(t, err, string(out))
	must.Equal(t, string(out), "providers\nclone copy\n", out)
}

// TestExamples_AreCommandLines reads the examples of all commands with the commands' own options.
func TestExamples_AreCommandLines(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		if len(c.Examples) == 0 {
			t.Errorf("the help of %q has no example", c.Name)
		}
		for _, e := range c.Examples {
			_, call, ok := strings.Cut(defaultNames().Expand(e[0]), "tfdeps "+c.Name)
			if !ok || !strings.HasSuffix(e[1], ".") {
				t.Errorf("%q isn't an example of %s, or %q is no sentence", e[0], c.Name, e[1])
			}
			call, _, _ = strings.Cut(strings.TrimSuffix(call, ")"), " >")
			must.Succeed(t, must.ErrorOf(c.Flags().Parse(strings.Fields(strings.ReplaceAll(call, "'", "")))), e[0])
		}
	}
}
