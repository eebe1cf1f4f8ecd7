package sessions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func needScripts(t *testing.T) {
	if t.Helper(); !peertest.RunsScripts() {
		t.Skip("the program that is run is a shell script")
	}
}

// startsTfdeps skips a test whose script starts tfdeps: under Wine, scripts start programs of Linux only.
func startsTfdeps(t *testing.T) {
	if t.Helper(); runtime.GOOS == "windows" {
		t.Skip("a script starts no programs of Windows")
	}
}

// scriptAs makes a shell script that stands for a real program.
func scriptAs(t *testing.T, name, script string) string {
	t.Helper()
	needScripts(t)
	path := filepath.Join(t.TempDir(), name)
	must.Succeed(t, peertest.WriteProgram(path, []byte("#!/bin/sh\n"+script)))
	return path
}

// TestPassThrough_ComesToAnEnd: without a real program, or with one that calls tfdeps
// again, no endless loop of processes starts.
func TestPassThrough_ComesToAnEnd(t *testing.T) {
	t.Parallel()
	exe := harness.ExeSuffix()
	link := harness.LinkTo(t, harness.Tfdeps(t), "terraform")
	program := must.Get(os.ReadFile(link))(t)
	build := filepath.Join(t.TempDir(), "terraform"+exe)
	must.Succeed(t, peertest.WriteProgram(build, append(program, 0)))
	const count = `echo x >>"$COUNT"` + "\n"
	caller := scriptAs(t, "terraform", count+`exec "$SELF" "$@" $ADDED`+"\n")
	wrapper := scriptAs(t, "terraform", count+`"${0%/*}/terraform-bin" "$@"`+"\n")
	harness.LinkIn(t, filepath.Dir(wrapper), harness.Tfdeps(t), "terraform-bin")
	list := string(os.PathListSeparator)
	for _, tt := range []struct {
		name   string
		env    []string
		want   string
		starts int // of the script
	}{
		{"another build", []string{"PATH=" + filepath.Dir(link) + list + filepath.Dir(build)}, "there is no terraform on PATH, besides tfdeps itself", 0},
		{"a script", []string{"PATH=" + filepath.Dir(link) + list + filepath.Dir(caller), "SELF=" + link}, "leads back to tfdeps", 1},
		{"a script by name", []string{"TFDEPS_TERRAFORM_PATH=" + caller, "SELF=" + link}, "leads back to tfdeps", 1},
		{"a script that adds arguments", []string{"TFDEPS_TERRAFORM_PATH=" + caller, "SELF=" + link, "ADDED=-no-color"}, "leads back to tfdeps", 32},
		{"a wrapper", []string{"PATH=" + filepath.Dir(wrapper)}, "leads back to tfdeps", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			program := link
			if tt.starts > 0 {
				startsTfdeps(t)
			}
			if tt.name == "a wrapper" {
				program = filepath.Join(filepath.Dir(wrapper), "terraform-bin")
			}
			started := filepath.Join(t.TempDir(), "started")
			end := harness.Exec(t, "", harness.Env(t, append(tt.env, "COUNT="+started)...), program, "plan")
			must.Equal(t, end.Code, 1)
			must.Contain(t, end, tt.want)
			must.Contain(t, end, "TFDEPS_TERRAFORM_PATH")
			times, _ := os.ReadFile(started)
			must.Equal(t, bytes.Count(times, []byte("x")), tt.starts)
		})
	}
}

// TestPassThrough_FindsTheRealProgram: whatever is before it on PATH, the real program gets the
// command, and gets it once.
func TestPassThrough_FindsTheRealProgram(t *testing.T) {
	t.Parallel()
	tfdeps := harness.Tfdeps(t)
	real := filepath.Dir(scriptAs(t, "terraform", `test "$1" != again || { shift; exec terraform "$@"; }`+"\necho \"real $*\"\n"))
	setup := filepath.Dir(scriptAs(t, "terraform-bin", "echo \"bin $*\"\n"))
	must.Succeed(t, peertest.WriteProgram(filepath.Join(setup, "terraform"), []byte("#!/bin/sh\nexec \"${0%/*}/terraform-bin\" \"$@\"\n")))
	launcher := filepath.Dir(scriptAs(t, "terraform", "exec \"$FIRST\" \"$@\"\n"))
	program := must.Get(os.ReadFile(tfdeps))(t)
	otherBuild := func(extra ...byte) string {
		path := filepath.Join(t.TempDir(), "terraform"+harness.ExeSuffix())
		must.Succeed(t, peertest.WriteProgram(path, append(program[:len(program):len(program)], extra...)))
		return filepath.Dir(path)
	}
	link := filepath.Dir(harness.LinkTo(t, tfdeps, "terraform"))
	bin := filepath.Dir(harness.LinkTo(t, tfdeps, "terraform-bin"))
	for _, tt := range []struct {
		name string
		path []string
		args string
		want string
	}{
		{"another build before a link", []string{otherBuild(0), link, real}, "plan", "real plan"},
		{"a link before two other builds", []string{link, otherBuild(0), otherBuild(0, 0), real}, "plan", "real plan"},
		{"a launcher that falls back to PATH", []string{link, launcher, real}, "plan", "real plan"},
		{"the wrapper of a setup action", []string{link, setup}, "plan", "bin plan"},
		{"in the place of terraform-bin", []string{bin, real}, "plan", "real plan"},
		{"a command of the real program's own", []string{otherBuild(0), link, real}, "again output", "real output"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasPrefix(tt.name, "a launcher") || strings.HasPrefix(tt.args, "again") {
				startsTfdeps(t)
			}
			first := must.Get(filepath.Glob(filepath.Join(tt.path[0], "terraform*")))(t)
			must.Len(t, first, 1)
			list := strings.Join(append(tt.path, os.Getenv("PATH")), string(os.PathListSeparator))
			must.Equal(t, harness.Run(t, t.TempDir(), harness.Env(t, "PATH="+list, "FIRST="+first[0]), append(first, strings.Fields(tt.args)...)...), tt.want+"\n")
		})
	}
}

// TestVersion_IsWhatWrappersLookFor: tools learn which program they drive from the output of
// version, under each name of tfdeps.
func TestVersion_IsWhatWrappersLookFor(t *testing.T) {
	t.Parallel()
	real := scriptAs(t, "terraform", `test "$*" = "version -json" && echo '{"terraform_version": "1.9.8"}'`+"\n")
	tfdeps := harness.Tfdeps(t)
	atlantis := regexp.MustCompile(`(?:Terraform|OpenTofu) v(.*?)(\s.*)?\n`)
	terraformExec := regexp.MustCompile(`^Terraform v([^\s]+)\n`)
	for name, want := range map[string]string{"tfdeps": "1.9.8", "terraform": "1.9.8", "terraform1.15.9": "1.15.9"} {
		env, dir := harness.Env(t, "TFDEPS_TERRAFORM_PATH="+real), t.TempDir()
		program := harness.LinkTo(t, tfdeps, name)
		for _, args := range [][]string{{"version"}, {"-version"}, {"--version"}, {"-v"}} {
			said := harness.Run(t, dir, env, append([]string{program}, args...)...)
			for _, pattern := range []*regexp.Regexp{atlantis, terraformExec} {
				found := pattern.FindStringSubmatch(said)
				must.Equal(t, len(found) > 1 && found[1] == want, true, name, args, said, pattern)
			}
		}
		var answer struct {
			Version    string             `json:"terraform_version"`
			Selections *map[string]string `json:"provider_selections"`
		}
		said := harness.Run(t, dir, env, program, "version", "-json")
		must.Succeed(t, json.Unmarshal([]byte(said), &answer), said)
		must.Equal(t, answer.Version, want, name)
		must.Equal(t, answer.Selections != nil, true, name, said)
	}
}

// TestPassThrough_ChangesNothing: a command that tfdeps doesn't have gets its arguments, streams
// and exit code from the real program, whatever name tfdeps was called by.
func TestPassThrough_ChangesNothing(t *testing.T) {
	t.Parallel()
	needScripts(t)
	tfdeps, real, bin := harness.Tfdeps(t), t.TempDir(), t.TempDir()
	const script = "#!/bin/sh\nprintf '<%s>' \"$@\"\ncat\necho \"$MARK\" >&2\nexit 42\n"
	for _, name := range []string{"terraform", "tofu1.12.6"} {
		must.Succeed(t, peertest.WriteProgram(filepath.Join(real, name), []byte(script)))
		harness.LinkIn(t, bin, tfdeps, name)
	}
	for _, tt := range []struct {
		name, program string
		before        []string
		env           string
	}{
		{"link", filepath.Join(bin, "terraform"+harness.ExeSuffix()), nil, ""},
		{"link with version", filepath.Join(bin, "tofu1.12.6"+harness.ExeSuffix()), nil, ""},
		{"option", tfdeps, []string{"-passthrough"}, ""},
		{"variable", tfdeps, nil, "TFDEPS_PASSTHROUGH=1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "link with version" && runtime.GOOS == "windows" {
				t.Skip("a name that ends in .6 is that of the script itself, which Windows doesn't run")
			}
			cmd := exec.CommandContext(t.Context(), tt.program, append(tt.before, "-chdir=no such", "plan", "", "a b", "-no-color")...)
			cmd.Env = harness.Env(t, "PATH="+bin+string(os.PathListSeparator)+real+string(os.PathListSeparator)+os.Getenv("PATH"),
				"TF_CLI_ARGS=-json", "MARK=on stderr", tt.env)
			cmd.Stdin = strings.NewReader("from stdin")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			must.Equal(t, must.As[*exec.ExitError](t, err).ExitCode(), 42)
			must.Equal(t, string(out), "<-chdir=no such><plan><><a b><-no-color>from stdin")
			must.Equal(t, stderr.String(), "on stderr\n")
		})
	}
	// An interrupt goes to the real program, whose exit code counts.
	t.Run("interrupt", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("signals can't be sent there")
		}
		real := scriptAs(t, "terraform", "trap 'echo interrupted; exit 42' INT\necho ready\nwhile :; do sleep 0.05; done\n")
		cmd := exec.CommandContext(t.Context(), harness.LinkTo(t, harness.Tfdeps(t), "terraform"), "apply")
		cmd.Env = harness.Env(t, "TFDEPS_TERRAFORM_PATH="+real)
		out := must.Get(cmd.StdoutPipe())(t)
		must.Succeed(t, cmd.Start())
		lines := bufio.NewReader(out)
		must.Equal(t, must.Get(lines.ReadString('\n'))(t), "ready\n")
		must.Succeed(t, cmd.Process.Signal(os.Interrupt))
		rest, _ := io.ReadAll(lines)
		must.Equal(t, must.As[*exec.ExitError](t, cmd.Wait()).ExitCode(), 42)
		must.Equal(t, string(rest), "interrupted\n")
	})
}

// After two interrupts at once the program also prints what is kept: the second one doesn't end the program while
// it removes the bars.
func TestInterrupt_TwiceAtOnceIsOne(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals can't be sent there")
	}
	program := harness.Tfdeps(t)
	dir, bin := t.TempDir(), t.TempDir()
	must.Write(t, filepath.Join(dir, "main.tf"), "module \"net\" {\n  source = \"git::https://git.example.com/net.git\"\n}\n")
	git := filepath.Join(bin, "git")
	must.Write(t, git, "#!/bin/sh\n: >\"$ASKED\"\ntrap '' INT TERM\nexec sleep 20\n") // which an interrupt doesn't end at once
	must.Succeed(t, os.Chmod(git, 0o755))
	said := ""
	for attempt := range 5 { // a busy machine may take longer between the two than a quarter of a second
		asked := filepath.Join(bin, fmt.Sprint("asked", attempt))
		env := harness.Env(t, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "ASKED="+asked, "TFDEPS_TERRAFORM_VERSION=1.15.9")
		code, out := interruptedTwice(t, exec.CommandContext(t.Context(), program, "init", "-no-color"), dir, env, asked)
		if code == 1 && strings.Contains(out, "Interrupted. Run again to continue.") {
			return
		}
		said += fmt.Sprintf("exit code %d\n%s\n", code, out)
	}
	t.Errorf("it ended and said\n%s", said)
}

// interruptedTwice sends a program two interrupts when a file exists, and returns its exit code, -1 if a signal has
// ended it, and what it said.
func interruptedTwice(t *testing.T, cmd *exec.Cmd, dir string, env []string, begun string) (code int, out string) {
	t.Helper()
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &said, &said
	must.Succeed(t, cmd.Start())
	for _, err := os.Stat(begun); err != nil && t.Context().Err() == nil; _, err = os.Stat(begun) {
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), said.String()
}
