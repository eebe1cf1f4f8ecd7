package sessions

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// A terminal, as far as it matters here: bars go up and clear what is below.
var upAndClear = regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J`)

// screenOf is what is to be seen at the end of what was written to a terminal.
func screenOf(written string) string {
	var lines []string
	line := ""
	for rest := written; rest != ""; {
		switch up := upAndClear.FindStringSubmatch(rest); {
		case up != nil:
			n, _ := strconv.Atoi(up[1])
			lines, rest = lines[:max(len(lines)-n, 0)], rest[len(up[0]):]
		case rest[0] == '\n':
			lines, line, rest = append(lines, line), "", rest[1:]
		case rest[0] == '\r':
			rest = rest[1:]
		default:
			line, rest = line+rest[:1], rest[1:]
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// slowRegistry has two packages that take a second, and returns the environment
// in which a configuration needs them.
func slowRegistry(t *testing.T) (dir string, env []string) {
	t.Helper()
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	for name, size := range map[string]int{"small": 2 << 20, "large": 3 << 20} {
		content := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
		registry.Add(providertest.PackageSpec{
			Namespace: "acme", Type: name, Version: "1.0.0",
			Archive: providertest.Zip(map[string]string{"terraform-provider-" + name + "_v1.0.0": string(content)}),
		})
	}
	registry.Break("archive", providertest.Fault{Pause: 20 * time.Millisecond})
	redirect := harness.Redirect(t, registry, "tf.example.com")
	const config = "terraform {\n  required_providers {\n    small = { source = \"tf.example.com/acme/small\" }\n" +
		"    large = { source = \"tf.example.com/acme/large\" }\n  }\n}\n"
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, harness.Env(t, append(redirect, "TERM=xterm", "TFDEPS_NO_SHARED_CACHE=1", "TFDEPS_TERRAFORM_VERSION=1.15.9")...)
}

// inTerminal runs a shell command in a terminal of its own. What is typed there
// is what keys returns when it has seen what was written so far.
func inTerminal(t *testing.T, dir string, env []string, command string, keys func(written string) string) (written string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "script", "-qec", "stty -echo cols 100 rows 30; "+command, os.DevNull)
	cmd.Dir, cmd.Env = dir, append(env, "SHELL=/bin/sh")
	keyboard, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	piece := make([]byte, 4096)
	for {
		n, err := out.Read(piece)
		all.Write(piece[:n])
		if err != nil {
			break
		}
		_, _ = io.WriteString(keyboard, keys(all.String()))
	}
	return all.String(), cmd.Wait()
}

func noKeys(string) string { return "" }

func TestProgress_InATerminal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("script has other options there")
	}
	harness.RequireProgram(t, "script")
	program := harness.Tfdeps(t)
	for name, test := range map[string]func(*testing.T, string){
		"give way to the lines that a pipe gets": barsInTerminal,
		"follow the width of the terminal":       barsInNarrowerTerminal,
		"go with an interrupt":                   barsInterrupted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, program)
		})
	}
}

func barsInTerminal(t *testing.T, program string) {
	dir, env := slowRegistry(t)
	piped := exec.CommandContext(t.Context(), program, "init", "-no-color")
	piped.Dir, piped.Env = dir, env
	lines, err := piped.Output()
	if err != nil {
		t.Fatalf("%v%s", err, harness.StderrOf(err))
	}
	for _, name := range []string{".terraform", ".terraform.lock.hcl"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	written, err := inTerminal(t, dir, env, "exec "+program+" init -no-color", noKeys)
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	if !regexp.MustCompile(`acme/small +\[=*>?-*\] .*MiB.*\r\ntf\.example\.com/acme/large +\[=*>?-*\] .*MiB.*\r\n\x1b\[`).MatchString(written) {
		t.Errorf("there were no bars, the largest last: %q", written)
	}
	summary := regexp.MustCompile(`\n+2 providers ready in \d.*s: 2 downloaded \(5\.2 MB from tf\.example\.com\)\n$`)
	progress := regexp.MustCompile(`(?m)^Download(ing|ed) tf\.example\.com/.*\n`)
	screen := screenOf(written)
	if !summary.MatchString(screen) || !summary.Match(lines) {
		t.Errorf("there is no summary on the screen\n%s\nor in the pipe\n%s", screen, lines)
	}
	if got, want := summary.ReplaceAllString(screen, "\n"), summary.ReplaceAllString(progress.ReplaceAllString(string(lines), ""), "\n"); got != want {
		t.Errorf("the screen is at last\n%s\nwant\n%s", got, want)
	}
}

func barsInNarrowerTerminal(t *testing.T, program string) {
	dir, env := slowRegistry(t)
	narrower := false
	written, err := inTerminal(t, dir, env, "(read x; stty cols 60) </dev/tty & exec "+program+" init -no-color", func(written string) string {
		if narrower || !strings.Contains(written, "MiB") {
			return ""
		}
		narrower = true
		return "\n"
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	wide, narrow := 0, 0
	for line := range strings.Lines(written) {
		if line = strings.TrimSuffix(regexp.MustCompile(`\x1b\[(\d+A|J)`).ReplaceAllString(line, ""), "\r\n"); !strings.Contains(line, "[") || !strings.Contains(line, "]") {
			continue
		}
		if len(line) > 100 {
			t.Errorf("%q is wider than the terminal", line)
		}
		if len(line) > 60 {
			wide++
		} else {
			narrow++
		}
	}
	if wide == 0 || narrow == 0 {
		t.Errorf("%d wide and %d narrow bars in %q", wide, narrow, written)
	}
}

func barsInterrupted(t *testing.T, program string) {
	dir, env := slowRegistry(t)
	pressed := false
	written, err := inTerminal(t, dir, env, "exec "+program+" init -no-color", func(written string) string {
		if pressed || !strings.Contains(written, "MiB") {
			return ""
		}
		pressed = true
		return "\x03"
	})
	if err == nil || !pressed {
		t.Fatalf("%v, pressed: %t\n%s", err, pressed, written)
	}
	screen := strings.TrimSpace(screenOf(written))
	if strings.Contains(screen, "MiB") || !strings.HasSuffix(screen, "\nError: Provider installation was canceled by an interrupt signal.") {
		t.Errorf("the screen is at last\n%q", screen)
	}
}
