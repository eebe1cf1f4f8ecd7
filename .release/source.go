package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// source is a clone of the repository's last commit, tagged with the version. Go records both in the programs
// that it builds there.
type source struct {
	dir     string
	version string // with a v
	commit  string
	time    time.Time // of the commit
	dirty   bool      // the repository has uncommitted changes, which the clone lacks
}

// checkOut clones the last commit of a repository into a directory, given by an absolute path, and tags it there, but not in the
// repository. It is an error if the repository has this tag on another commit.
func checkOut(repository, version, dir string) (s source, err error) {
	s = source{dir: dir, version: version}
	if s.commit, err = run(repository, nil, "git", "rev-parse", "HEAD"); err != nil {
		return s, err
	}
	changed, err := run(repository, nil, "git", "status", "--porcelain")
	if err != nil {
		return s, err
	}
	s.dirty = changed != ""
	if tagged, err := run(repository, nil, "git", "rev-parse", "--verify", "--quiet", "refs/tags/"+version+"^{commit}"); err == nil && tagged != s.commit {
		return s, fmt.Errorf("the tag %s is on commit %s, and the last commit is %s", version, tagged, s.commit)
	}
	seconds, err := run(repository, nil, "git", "show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return s, err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return s, err
	}
	s.time = time.Unix(n, 0).UTC()
	absolute, err := filepath.Abs(repository)
	if err != nil {
		return s, err
	}
	for _, args := range [][]string{
		{"clone", "--quiet", "--shared", "--no-tags", absolute, dir},
		{"-C", dir, "checkout", "--quiet", "--detach", s.commit},
		{"-C", dir, "-c", "tag.gpgSign=false", "tag", version},
	} {
		if _, err := run(repository, nil, "git", args...); err != nil {
			return s, err
		}
	}
	return s, nil
}

// build builds the program for a platform. It ignores this machine's settings of Go, except those of module downloads.
func (s source) build(p platform, binary string) error {
	_, err := run(s.dir, buildEnv(p), "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", binary, ".")
	return err
}

func buildEnv(p platform) []string {
	return []string{"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=v1", "GOARM64=v8.0",
		"GOOS=" + p.os, "GOARCH=" + p.arch}
}

// sharedFiles returns the files in the archives of all platforms: completions, the manual, and documents of the
// repository. A program for this machine prints the completions.
func (s source) sharedFiles(stage string) ([]file, error) {
	here := platform{runtime.GOOS, runtime.GOARCH}
	program := filepath.Join(stage, "here", here.program())
	if err := s.build(here, program); err != nil {
		return nil, err
	}
	var all []file
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		content, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: name, content: content})
	}
	for shell, name := range map[string]string{"bash": "tfdeps.bash", "zsh": "_tfdeps", "fish": "tfdeps.fish"} {
		script, err := run(s.dir, nil, program, "completion", shell)
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: "completions/" + name, content: []byte(script + "\n")})
	}
	manual := filepath.Join(stage, "manual")
	if _, err := run(s.dir, buildEnv(here), "go", "run", "./testdata/manpages", manual); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(manual, "*.1"))
	if err != nil || len(pages) == 0 {
		return nil, errors.Join(errors.New("the manual has no page"), err)
	}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: "man/man1/" + filepath.Base(page), content: content})
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// run runs a program in a directory, with further variables, and returns its stdout without line breaks at the end.
func run(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(problems.String()))
	}
	return strings.TrimRight(out.String(), "\r\n"), nil
}
