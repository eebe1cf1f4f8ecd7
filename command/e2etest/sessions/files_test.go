package sessions

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// snapshotKey is the key of a session's snapshot.
type snapshotKey struct{}

// snapshot has the files by path.
type snapshot struct{ files map[string]string }

// takeSnapshot records all files and directories of the session.
func takeSnapshot(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 0 {
		ts.Fatalf("usage: snapshot")
	}
	ts.Value(snapshotKey{}).(*snapshot).files = filesOf(ts)
}

// checkUntouched compares them with the snapshot. A file that was made
// and removed again is noticed by the mtime of its directory.
func checkUntouched(ts *testscript.TestScript, _ bool, _ []string) {
	was, is := ts.Value(snapshotKey{}).(*snapshot).files, filesOf(ts)
	if len(was) == 0 {
		ts.Fatalf("there is no snapshot")
	}
	for _, path := range slices.Sorted(maps.Keys(is)) {
		if was[path] != is[path] {
			ts.Fatalf("%s was %q and is %q", path, was[path], is[path])
		}
	}
	if len(was) != len(is) {
		ts.Fatalf("there are %d files, there were %d", len(is), len(was))
	}
}

func filesOf(ts *testscript.TestScript) map[string]string {
	files := map[string]string{}
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		files[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if !d.IsDir() {
			files[path] += fmt.Sprint(" ", info.Size())
		}
		return err
	}))
	return files
}

var (
	perRun  = regexp.MustCompile(`state/tfdeps/|/\.locks/|lock$|\.sig$|/\.git/|/[0-9a-f]{40,}$|-report\.html$`)
	longHex = regexp.MustCompile(`[0-9a-f]{40,}`)
)

// recordFiles lists the files that a session leaves, for testdata/record. Texts that differ from run to run are removed.
func recordFiles(env *testscript.Env) {
	dir := os.Getenv("TFDEPS_TEST_RECORD")
	if dir == "" {
		return
	}
	var list []string
	_ = filepath.WalkDir(env.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		what := d.Type().String()
		if strings.Contains(path, ".servers") { // keys of this run
			return nil
		}
		if d.Type().IsRegular() && !perRun.MatchString(path) {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := strings.ReplaceAll(string(content), env.WorkDir, "WORK")
			for _, s := range scrubbed {
				text = s.pattern.ReplaceAllString(text, s.instead)
			}
			what = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		}
		name := longHex.ReplaceAllString(strings.TrimPrefix(path, env.WorkDir), "HASH")
		list = append(list, fmt.Sprintf("%s %s\n", name, what))
		return nil
	})
	slices.Sort(list)
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	if err := os.WriteFile(filepath.Join(dir, name+".files"), []byte(strings.Join(list, "")), 0o644); err != nil {
		env.T().Fatal(err)
	}
}

// runForCode runs a program that has to end with an exit code.
func runForCode(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("the exit code is %d, not %d", code, want)
	}
	if args[1] == "tfdeps" {
		checkJSON(ts, args[2:])
	}
}

// layOver copies files, and overwrites existing ones.
func layOver(ts *testscript.TestScript, from, to string) {
	ts.Check(filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), content, 0o644)
	}))
}

// leftIn describes a directory's lock file and .terraform, which may be
// half-way after a failure.
func leftIn(ts *testscript.TestScript, dir string, failed bool) string {
	left := "no lock file\n"
	if content, err := os.ReadFile(filepath.Join(ts.MkAbs(dir), depsfile.FileName)); err == nil {
		left = string(content)
	}
	if failed {
		return left
	}
	tree, err := harness.TreeOf(ts.MkAbs(dir))
	ts.Check(err)
	return strings.ReplaceAll(left+strings.Join(tree, "\n"), ts.MkAbs(dir), "DIR") // links are absolute
}

// scrubbed has patterns of text that differs from run to run, and their replacements.
var scrubbed = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`"@timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?(Z|[+-]\d\d:\d\d)"`), `"@timestamp":"TIME"`},
	{regexp.MustCompile(`"(started_at|ended_at)":( ?)"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"`), `"$1":$2"TIME"`},
	{regexp.MustCompile(`("@message":"[^"]* (?:in|after) )[\dm.]+s\b`), `${1}SECONDS`},
	{regexp.MustCompile(`"bytes":\d+`), `"bytes":BYTES`},
	{regexp.MustCompile(`(key ID |key_id: |"key_id":")[0-9A-F]{16}\b`), `${1}KEY`},
	{regexp.MustCompile(`localhost:\d+`), "localhost:PORT"},
	{regexp.MustCompile(regexp.QuoteMeta(getproviders.CurrentPlatform().String())), "PLATFORM"},
}

func scrub(ts *testscript.TestScript, _ bool, files []string) {
	for _, file := range files {
		text := ts.ReadFile(file)
		for _, s := range scrubbed {
			text = s.pattern.ReplaceAllString(text, s.instead)
		}
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}

func edit(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: edit FILE PATTERN TEXT")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	if !pattern.MatchString(text) {
		ts.Fatalf("nothing in %s matches %s", args[0], args[1])
	}
	with := strings.ReplaceAll(args[2], ts.Getenv("WORK"), filepath.ToSlash(ts.Getenv("WORK"))) // in the configuration a backslash is no part of a path
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(pattern.ReplaceAllString(text, with)), 0o644))
}

func copyTree(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: copytree FROM TO")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}
