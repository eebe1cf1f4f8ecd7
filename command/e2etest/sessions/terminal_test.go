package sessions

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/command/view/screentest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// slowArchives are two archives that take a second to download, by name, made once: for the race
// detector to watch their packing takes seconds.
var slowArchives = sync.OnceValue(func() map[string][]byte {
	archives := map[string][]byte{}
	for name, size := range map[string]int{"small": 2 << 20, "large": 3 << 20} {
		content := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
		archives[name] = providertest.Zip(map[string]string{"terraform-provider-" + name + "_v1.0.0": string(content), "main.tf": ""})
	}
	return archives
})

// slowRegistry has two packages that take a second, and returns the environment
// in which a configuration needs them.
func slowRegistry(t *testing.T) (registry *providertest.Registry, dir string, env []string) {
	t.Helper()
	registry = harness.Start(t, providertest.NewRegistry, providertest.Options{})
	for name, archive := range slowArchives() {
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Archive: archive})
	}
	registry.Break("archive", providertest.Fault{Pause: 20 * time.Millisecond})
	redirect := harness.Redirect(t, registry, "tf.example.com")
	const config = "terraform {\n  required_providers {\n    small = { source = \"tf.example.com/acme/small\" }\n" +
		"    large = { source = \"tf.example.com/acme/large\" }\n  }\n}\n"
	dir = t.TempDir()
	must.Write(t, filepath.Join(dir, "main.tf"), config)
	return registry, dir, harness.Env(t, append(redirect, "TERM=xterm", "TFDEPS_CACHE_DIR="+t.TempDir(), "TFDEPS_TERRAFORM_VERSION=1.15.9")...)
}

// inTerminal runs a shell command in a new terminal. keys gets the screen so far, and returns
// what to type.
func inTerminal(t *testing.T, dir string, env []string, width, height int, command string, keys func(*screentest.Terminal) string) (*screentest.Terminal, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "script", "-qec", fmt.Sprintf("stty -echo cols %d rows %d; %s", width, height, command), os.DevNull)
	cmd.Dir, cmd.Env = dir, append(env, "SHELL=/bin/sh")
	keyboard := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Succeed(t, cmd.Start())
	screen := screentest.New(width, height)
	piece := make([]byte, 4096)
	for {
		n, err := out.Read(piece)
		if _, writeErr := screen.Write(piece[:n]); err != nil || writeErr != nil {
			break
		}
		_, _ = io.WriteString(keyboard, keys(screen))
	}
	return screen, cmd.Wait()
}

func noKeys(*screentest.Terminal) string { return "" }

// once types a text when the screen matches a pattern.
func once(typed, pattern string, done *bool) func(*screentest.Terminal) string {
	return func(screen *screentest.Terminal) string {
		if *done || !regexp.MustCompile(pattern).MatchString(screen.Text()) {
			return ""
		}
		*done = true
		return typed
	}
}

// bothRun matches the screen while both downloads run.
const bothRun = `(?m)\.\.\.\n.*small.*/.*MB.*left.*\n.*large.*/.*MB.*left.*\nTotal: 0 of 2.*left`

// barsRun is the same for commands that print nothing before.
const barsRun = `(?m)^.*small.*/.*MB.*left.*\n.*large.*/.*MB.*left.*\nTotal: 0 of 2.*left`

// narrowRun is barsRun where names are cut.
const narrowRun = `MB.*left\n.*MB.*left\nTotal: 0 of 2.*left`

// modulesRun is the same for packages of modules.
const modulesRun = `(?m)MB.*left.*\n.*MB.*left.*\nTotal: 0 of 2.*left`

// slowModules adds two modules to a slow registry, and has the configuration call them alone.
func slowModules(t *testing.T, registry *providertest.Registry, dir string) {
	t.Helper()
	for name, archive := range slowArchives() {
		at := registry.AddArchive(name+".zip", archive)
		registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: name, System: "null", Version: "1.0.0", Location: at})
	}
	registry.Break("module/archive", providertest.Fault{Pause: 20 * time.Millisecond})
	const config = "module \"small\" {\n  source  = \"tf.example.com/acme/small/null\"\n  version = \"1.0.0\"\n}\n" +
		"module \"large\" {\n  source  = \"tf.example.com/acme/large/null\"\n  version = \"1.0.0\"\n}\n"
	must.Write(t, filepath.Join(dir, "main.tf"), config)
}

// screens are where the program writes: a terminal of a size, with more in the environment, or a pipe.
var screens = map[string]struct {
	width, height int // 0: a pipe
	env           string
}{
	"120x40": {120, 40, ""}, "40x8": {40, 8, ""}, "NO_COLOR": {120, 40, "NO_COLOR=1"}, "dumb": {120, 40, "TERM=dumb"}, "CI": {120, 40, "CI=true"}, "pipe": {},
}

// shownCommands are commands, and patterns of the screen while they run, also in a narrow terminal; "" means nothing but the lines at the end. A pipe,
// CI and a dumb terminal never match them.
var shownCommands = map[string]struct{ args, live, narrow string }{
	"":           {"init", bothRun, bothRun},
	"lock-":      {"providers lock", barsRun, narrowRun},
	"mirror-":    {"providers mirror mirror", barsRun, narrowRun},
	"vendor-":    {"vendor", barsRun, narrowRun},
	"cache-add-": {"cache add tf.example.com/acme/small tf.example.com/acme/large", barsRun, narrowRun},
	"verify-":    {args: "providers verify"},
	"get-":       {"get", modulesRun, modulesRun},
}

// showsWhatItShowed compares each COMMAND-SCREEN.txt of testdata/terminal with the screen while both downloads run, and at the end.
func showsWhatItShowed(t *testing.T, program string) {
	golden, err := filepath.Glob(harness.Path(t, "testdata/terminal/*.txt"))
	if err != nil || len(golden) < 38 {
		t.Fatalf("there are %d screens, want 38: %v", len(golden), err)
	}
	for _, file := range golden {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		command := name[:strings.LastIndex(name, "-")+1]
		tt, screen := shownCommands[command], screens[strings.TrimPrefix(name, command)]
		switch strings.TrimPrefix(name, command) {
		case "40x8":
			tt.live = tt.narrow
		case "dumb", "CI", "pipe":
			tt.live = ""
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !peertest.All() && !peertest.OneInFive(name) { // each takes a second
				t.Skip("one session in five is enough")
			}
			registry, dir, env := slowRegistry(t)
			if env = append(env, screen.env); tt.args == "get" {
				slowModules(t, registry, dir)
			}
			if tt.live == "" { // slow enough for one to end before the other
				registry.Break("archive", providertest.Fault{Pause: 4 * time.Millisecond})
				registry.Break("module/archive", providertest.Fault{Pause: 4 * time.Millisecond})
			}
			if tt.args == "providers verify" {
				runs(t, program, dir, env, "init")
			}
			var got string
			if screen.width == 0 {
				got = runs(t, program, dir, env, strings.Fields(tt.args)...)
			} else {
				shown, err := inTerminal(t, dir, env, screen.width, screen.height, "exec "+program+" "+tt.args, noKeys)
				must.Succeed(t, err, shown.Text())
				if tt.live != "" {
					got = "--- while it runs\n" + bottom(lastMatch(shown.History(), tt.live), screen.height) + "--- at the end\n"
				}
				got += shown.Text()
			}
			compareScreen(t, name, got)
		})
	}
}

// runs runs the program in a pipe, where it has to succeed and writes nothing to stderr.
func runs(t *testing.T, program, dir string, env []string, args ...string) string {
	t.Helper()
	end := harness.Exec(t, dir, env, append([]string{program}, args...)...)
	if end.Code != 0 || end.Err != "" {
		t.Fatal(end)
	}
	return end.Out
}

func lastMatch(screens []string, pattern string) (found string) {
	for _, s := range screens {
		if regexp.MustCompile(pattern).MatchString(s) {
			found = s
		}
	}
	return found
}

// bottom returns the last lines of a text that fit a screen of that height, with the cursor below.
func bottom(text string, height int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(len(lines)-height+1, 0):], "\n") + "\n"
}

// settled moves lines about downloads to the end, sorted, because their order and place
// differ from run to run.
func settled(text string) string {
	var downloads, others []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "Downloading ") || strings.HasPrefix(line, "Downloaded ") {
			downloads = append(downloads, line)
		} else {
			others = append(others, line)
		}
	}
	return strings.Join(append(others, slices.Sorted(slices.Values(downloads))...), "")
}

// compareScreen compares a screen with a file, without numbers, the fill of bars, and
// the order of downloads, which differ from run to run.
func compareScreen(t *testing.T, name, got string) {
	t.Helper()
	for _, change := range [][2]string{
		{`\[=*>?-*\]`, "[==>--]"},
		{`\b\d[\d.]*( ?)(ms|s|kB|MB)\b`, "0${1}$2"},
		{`0ms`, "0s"},
		{`linux_[a-z0-9]+`, "linux_amd64"},
		{`(Added 2 packages to )[^, ]+`, "${1}..."}, // a path may be broken
		{`\b\d[\d.]* GB/s`, "0 MB/s"},
		{`kB/s`, "MB/s"},
		{`localhost:\d+`, "localhost:0"},
		{`\b\d[\d.]*/`, "0/"},
		{`(ID\s+[0-9A-F]*\n?)[0-9A-F]*`, "ID ..."},
	} {
		got = regexp.MustCompile(change[0]).ReplaceAllString(got, change[1])
	}
	file := harness.Path(t, "testdata", "terminal", name+".txt")
	if os.Getenv("TFDEPS_UPDATE") == "1" {
		must.Write(t, file, got+"\n")
	}
	want := string(must.Get(os.ReadFile(file))(t))
	must.Equal(t, settled(unpadded(got+"\n")), settled(unpadded(want)))
}

// unpadded leaves out what aligns the numbers of a column: how many digits the longest one has differs from run to run.
func unpadded(text string) string {
	return regexp.MustCompile(` {2,}0/0`).ReplaceAllString(text, "  0/0")
}

// forTerminal returns tfdeps, which script runs in a terminal, or skips the test where script can't.
func forTerminal(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("script has other options there")
	}
	harness.RequireProgram(t, "script")
	return harness.Tfdeps(t)
}

func TestTerminal_Screens(t *testing.T) {
	t.Parallel()
	program := forTerminal(t)
	t.Run("recorded", func(t *testing.T) { showsWhatItShowed(t, program) })
	t.Run("its width is followed", func(t *testing.T) {
		t.Parallel()
		harness.SkipIfShort(t)
		_, dir, env := slowRegistry(t)
		narrower := false
		screen, err := inTerminal(t, dir, env, 100, 30, "(read x; stty cols 60) </dev/tty & exec "+program+" init -no-color", once("\n", bothRun, &narrower))
		must.Succeed(t, err, screen.Text())
		wide, narrow := 0, 0
		for _, shown := range screen.History() {
			for line := range strings.Lines(shown) {
				switch {
				case !strings.Contains(line, " left"):
				case len(line) > 60:
					wide++
				default:
					narrow++
				}
			}
		}
		must.Equal(t, wide > 0 && narrow > 0, true, wide, narrow, screen.History())
	})
	// The kept bytes are on disk, and the next run downloads only the rest.
	t.Run("what an interrupt keeps", func(t *testing.T) {
		t.Parallel()
		registry, dir, env := slowRegistry(t)
		pressed := false
		screen, err := inTerminal(t, dir, env, 100, 30, "exec "+program+" init -no-color", once("\x03", bothRun, &pressed))
		text := screen.Text()
		must.Equal(t, err != nil && pressed, true, err, text)
		const end = `(?s)\nError: Provider installation was canceled by an interrupt signal\.\n+Interrupted\. \d[\d.]* [kM]B are kept; run again to continue\.$`
		must.NotContain(t, text, "left")
		must.NotContain(t, text, "Installed")
		must.Equal(t, regexp.MustCompile(end).MatchString(text), true, text)
		registry.Break("archive", providertest.Fault{})
		must.Contain(t, harness.Run(t, dir, env, program, "init", "-no-color"), "are here from an earlier run")
	})
	// Without a terminal, a successful run prints nothing about retries.
	t.Run("what is tried again", func(t *testing.T) {
		t.Parallel()
		harness.SkipIfShort(t)
		registry, dir, env := slowRegistry(t)
		registry.Break("archive", providertest.Fault{})
		registry.Break("versions", providertest.Fault{Status: 503, Times: 1})
		env = append(env, "TF_REGISTRY_CLIENT_TIMEOUT=10", "TF_REGISTRY_DISCOVERY_RETRY=2")
		screen, err := inTerminal(t, dir, env, 100, 30, "exec "+program+" init -no-color", noKeys)
		const told = `(?m)^retrying localhost:\d+ \(2 of 3\) in \d[\d.]*m?s: 503 Service Unavailable$`
		must.Succeed(t, err, screen.Text())
		must.Len(t, regexp.MustCompile(told).FindAllString(screen.Text(), -1), 1, screen.Text())
		registry.Break("versions", providertest.Fault{Status: 503, Times: 1})
		must.NotContain(t, runs(t, program, dir, env, "init", "-no-color", "-upgrade"), "retrying")
	})
}
