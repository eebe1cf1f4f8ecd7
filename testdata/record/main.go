// Record writes the output and the files of each session in testdata/script into a directory, so that
// two commits can be compared file by file:
//
//	go run ./testdata/record /tmp/before
//	git switch another-branch
//	go run ./testdata/record /tmp/after
//	diff -r /tmp/before /tmp/after
//
// Each session has one file: its commands with their output, exit codes as testscript reports them, and
// the remaining files, with their modes and the checksums of their content. Ports, temporary directories,
// times and keys, which differ in each run, are replaced.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: record DIR [REGEXP]")
		os.Exit(1)
	}
	names := "."
	if len(os.Args) > 2 {
		names = os.Args[2]
	}
	if err := record(os.Args[1], names); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(dir, names string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("go", "test", "-count=1", "-v", "-timeout=30m", "-run", "^TestScript$/"+names, "./command/e2etest/sessions")
	cmd.Env = append(os.Environ(), "TFDEPS_TEST_RECORD="+dir)
	cmd.Stderr = os.Stderr
	log, failed := cmd.Output()
	for name, text := range sessions(log) {
		left, err := os.ReadFile(filepath.Join(dir, name+".files"))
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), scrub(append(text, left...)), 0o644); err != nil {
			return err
		}
		_ = os.Remove(filepath.Join(dir, name+".files"))
	}
	return failed
}

var heading = regexp.MustCompile(`(?m)^\s*(?:=== (?:RUN|CONT|PAUSE|NAME)|--- (?:PASS|FAIL|SKIP):)\s+TestScript/([^\s]+).*\n`)

// sessions splits the log of go test by session.
func sessions(log []byte) map[string][]byte {
	found := map[string][]byte{}
	marks := heading.FindAllSubmatchIndex(log, -1)
	for i, mark := range marks {
		end := len(log)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name := string(log[mark[2]:mark[3]])
		found[name] = append(found[name], log[mark[1]:end]...)
	}
	return found
}

var volatile = []struct{ pattern, instead string }{
	{`(localhost|127\.0\.0\.1|\[::1\]):\d+`, "$1:PORT"},
	{`/\S*?/(script-[^/\s]+|go-test-script\d+/script-[^/\s]+)`, "WORK"},
	{`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`, "TIME"},
	{`\b\d+(\.\d+)?(ms|µs|ns|m\d+(\.\d+)?s|s)\b`, "SECONDS"},
	{`\b[0-9A-F]{16}\b`, "KEYID"},
	{`\bend-[0-9a-f]{16}\b`, "end-RANDOM"},
	{`/[^\s"']*/go-build/[^\s"']*/tfdeps`, "PROGRAM"},
	{`(?s)\A.*?\n\s*\n`, ""}, // the environment
	{`(?m)^(--- (PASS|FAIL): TestScript|PASS$|FAIL$|(ok|FAIL)\s).*\n?`, ""},
	{`(?m)^\s+$`, ""},
}

func scrub(text []byte) []byte {
	for _, v := range volatile {
		text = regexp.MustCompile(v.pattern).ReplaceAll(text, []byte(v.instead))
	}
	return bytes.TrimSpace(text)
}
