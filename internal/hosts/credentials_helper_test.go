package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// TestHelper_Program isn't a test, but the program that the tests below run: this test executable
// under another name.
func TestHelper_Program(t *testing.T) {
	if os.Getenv("HELPER_LOG") == "" {
		return // others run it
	}
	_, asked, _ := strings.Cut(strings.Join(os.Args[1:], "|"), "--|")
	log := must.Get(os.OpenFile(os.Getenv("HELPER_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(t)
	fmt.Fprintln(log, asked)
	if here, err := os.Getwd(); err != nil || here == os.Getenv("HELPER_NOT_IN") {
		t.Fatal("it runs in the working directory", err)
	}
	log.Close()
	switch os.Getenv("HELPER_MODE") {
	case "endless":
		for {
			io.WriteString(os.Stdout, strings.Repeat("x", 4096))
			io.WriteString(os.Stderr, strings.Repeat("y", 4096))
			if info, err := os.Stat(os.Getenv("HELPER_LOG")); err != nil || info.Size() == 0 {
				os.Exit(1) // the test is over
			}
		}
	case "much":
		fmt.Fprintf(os.Stdout, `{"token": %q}`, strings.Repeat("x", helperStdoutBytes))
	case "much to say":
		fmt.Fprint(os.Stderr, strings.Repeat("y", 10*helperStderrBytes))
		os.Exit(1)
	case "hang":
		time.Sleep(time.Minute)
	case "leave a child":
		child := exec.Command(os.Args[0], os.Args[1:]...)
		child.Env = append(os.Environ(), "HELPER_MODE=hang")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		must.Succeed(t, child.Start())
		fmt.Fprintln(os.Stderr, "started", child.Process.Pid)
		os.WriteFile(os.Getenv("HELPER_LOG")+".pid", fmt.Append(nil, child.Process.Pid), 0o600)
	}
	fmt.Fprint(os.Stdout, os.Getenv("HELPER_STDOUT"))
	fmt.Fprint(os.Stderr, os.Getenv("HELPER_STDERR"))
	os.Exit(len(os.Getenv("HELPER_EXIT")))
}

// program is a helper program in a directory of its own.
type program struct {
	exe, log string
	tokens   *Tokens
}

// newProgram installs the program, whose environment controls it.
func newProgram(t *testing.T, env ...string) program {
	t.Helper()
	dir := t.TempDir()
	p := program{exe: filepath.Join(dir, "terraform-credentials-test"), log: filepath.Join(t.TempDir(), "log")}
	if runtime.GOOS == "windows" {
		p.exe += ".exe"
	}
	installSelf(t, p.exe)
	here := must.Get(os.Getwd())(t)
	p.tokens = NewHelperTokens(p.exe, []string{"-test.run=^TestHelper_Program$", "--", "first arg"},
		append(append(os.Environ(), "HELPER_LOG="+p.log, "HELPER_NOT_IN="+here, "GORACE=atexit_sleep_ms=0"), env...))
	return p
}

// installSelf copies this executable.
func installSelf(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skip("this executable isn't known: ", err)
	}
	if runtime.GOOS != "windows" && os.Link(self, path) == nil { // where no link to a program that runs is removed
		return
	}
	content, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(path, content, 0o700)
	}
	must.Succeed(t, err)
}

// asked returns the program's arguments and input.
func (p program) asked(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(p.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

func TestHelper_Answers(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  []string
		want string
		fail string // part of the error
	}{
		{"token", []string{`HELPER_STDOUT={"token": "s3cret"}` + "\n", "HELPER_STDERR=beware"}, "s3cret", ""},
		{"no token", []string{"HELPER_STDOUT={}"}, "", ""},
		{"nothing", nil, "", "its answer is not a JSON object"},
		{"too much", []string{"HELPER_MODE=much"}, "", "more than 1048576 bytes"},
		{"failure", []string{"HELPER_EXIT=xxx", "HELPER_STDERR=the vault is sealed\n"}, "", "exit status 3: the vault is sealed"},
		{"failure without a word", []string{"HELPER_EXIT=x"}, "", "exit status 1: it gave no reason"},
		{"failure after an answer", []string{"HELPER_EXIT=x", `HELPER_STDOUT={"token": "s3cret"}`, "HELPER_STDERR=+ echo s3cret\nno"}, "", "exit status 1: + echo REDACTED\nno"},
		{"failure with colours", []string{"HELPER_EXIT=x", "HELPER_STDERR=\x1b[31mno\x07\r\n"}, "", "exit status 1: [31mno"},
		{"much to say", []string{"HELPER_MODE=much to say"}, "", "exit status 1: " + strings.Repeat("y", helperStderrBytes)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, tc.env...)
			token, err := p.tokens.Token(t.Context(), "xn--bcher-kva.example:8443")
			must.Equal(t, token, tc.want)
			must.Equal(t, p.asked(t), "first arg|get|xn--bcher-kva.example:8443")
			if tc.fail == "" {
				must.Equal(t, err, nil)
				return
			}
			if err == nil || !strings.HasSuffix(err.Error(), tc.fail) ||
				!strings.Contains(err.Error(), p.exe) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v, want %s", err, tc.fail)
			}
		})
	}
}

func TestHelper_AnswersInJSON(t *testing.T) {
	const noObject, noString = "its answer is not a JSON object", "the token in its answer is not a string"
	for answer, want := range map[string][2]string{ // the token, and the error
		`{"token": "s3cret"}` + "\n":              {"s3cret", ""},
		`{"user": {"x": [1]}, "token": "s3cret"}`: {"s3cret", ""},
		`{}`:                          {},
		`null`:                        {},
		`{"token": null}`:             {},
		`{"token": ""}`:               {},
		`{"TOKEN": "s3cret"}`:         {},
		``:                            {"", noObject},
		`s3cret`:                      {"", noObject},
		`"s3cret"`:                    {"", noObject},
		`{"token": "s3cret"} s3cret`:  {"", noObject},
		`{"token": 5, "x": "s3cret"}`: {"", noString},
	} {
		token, err := tokenIn(&subprocess.Head{Kept: []byte(answer)})
		must.Equal(t, token, want[0], answer)
		must.Equal(t, fmt.Sprint(err), cmp.Or(want[1], "<nil>"), answer)
	}
}

func TestHelper_IsAskedOnceForEachHost(t *testing.T) {
	p := newProgram(t, `HELPER_STDOUT={"token": "s3cret"}`)
	for range 3 {
		for _, host := range []Hostname{"a.example", "b.example"} {
			must.Equal(t, must.Get(p.tokens.Token(t.Context(), host))(t), "s3cret")
		}
	}
	must.Equal(t, strings.ReplaceAll(p.asked(t), "\r", ""), "first arg|get|a.example\nfirst arg|get|b.example")
	mustConceal(t, p.tokens, "s3cret")
	mustConceal(t, FirstOf(p.tokens), "s3cret")
}

func TestHelper_IsNotAskedForKnownHosts(t *testing.T) {
	p := newProgram(t, `HELPER_STDOUT={"token": "s3cret"}`)
	chain := FirstOf(EnvTokens([]string{"TF_TOKEN_a_example=variable", "TF_TOKEN_b_example="}), NewStaticTokens(map[Hostname]string{"c.example": "block"}), p.tokens)
	for host, want := range map[Hostname]string{"a.example": "variable", "b.example": "", "c.example": "block", "d.example": "s3cret"} {
		must.Equal(t, must.Get(chain.Token(t.Context(), host))(t), want, host)
	}
	must.Equal(t, p.asked(t), "first arg|get|d.example")
}

func TestHelper_IsAskedAgainAfterAFailure(t *testing.T) {
	p := newProgram(t, "HELPER_EXIT=x")
	for range 2 {
		must.Refuse(p.tokens.Token(t.Context(), "a.example"))(t, "no error")
	}
	must.Equal(t, strings.Count(p.asked(t), "a.example"), 2)
}

func TestHelper_EndsWithTheContext(t *testing.T) {
	p := newProgram(t, "HELPER_MODE=endless")
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for {
			if _, err := os.Stat(p.log); err == nil {
				cancel(stopped)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	must.Fail(t, must.ErrorOf(p.tokens.Token(ctx, "a.example")), stopped)
}

func TestHelper_MayLeaveAProgramRunning(t *testing.T) {
	p := newProgram(t, "HELPER_MODE=leave a child", `HELPER_STDOUT={"token": "s3cret"}`)
	must.Equal(t, must.Get(p.tokens.Token(t.Context(), "a.example"))(t), "s3cret")
	content := must.Get(os.ReadFile(p.log + ".pid"))(t)
	pid := 0
	must.Get(fmt.Sscan(string(content), &pid))(t)
	if child, err := os.FindProcess(pid); err == nil {
		child.Kill()
	}
}

func TestHelper_ThatCannotRun(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "terraform-credentials-x")
	want := os.ErrPermission
	if runtime.GOOS == "windows" { // which has no executable bit
		exe += ".exe"
		want = syscall.Errno(193) // ERROR_BAD_EXE_FORMAT
	}
	must.Succeed(t, os.WriteFile(exe, []byte("x"), 0o600))
	tokens := NewHelperTokens(exe, nil, nil)
	err := must.ErrorOf(tokens.Token(t.Context(), "a.example"))
	must.Fail(t, err, want)
	must.Contain(t, err, exe)
}

func FuzzHelperAnswer(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", `{"token": "x"}`, `{"token": null}`, `{"token": {}}`, "[]", `{"token": "\ud800"}`, `{"token":"x"}{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		stdout := &subprocess.Head{Limit: 100}
		stdout.Write(answer)
		token, err := tokenIn(stdout)
		if err != nil && token != "" || err == nil && len(answer) > 100 {
			t.Errorf("got %q, %v", token, err)
		}
	})
}
