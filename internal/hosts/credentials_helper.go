package hosts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

const (
	helperStdoutBytes = 1 << 20
	helperStderrBytes = 4 << 10

	// helperWaitDelay is how long the output may stay open after the program's
	// end, or after it was asked to end: programs that it started may hold it.
	helperWaitDelay = time.Second
)

// Helper says which program is a credentials helper and how to run it.
type Helper struct {
	Name string   // its file is terraform-credentials-NAME; a version may follow, such as "_v1.2.0"
	Args []string // come before those that the protocol asks for
	Dirs []string // where it is looked for; those that don't exist don't matter
	Env  []string // its environment, like that of os.Environ; nil: that of this process
}

// NewHelperTokens returns the tokens that a program knows. It is run as
//
//	terraform-credentials-NAME ARGS... get registry.example.com
//
// with the host in punycode, and answers with a JSON object: {"token": "..."}, or
// one without a token if it has none for that host. It is asked once for each host, and
// again only if it failed. Its failure is an error that holds what it said on standard error. When the context ends, so does the program.
//
// Of several versions in the directories, the program is the newest. If there is none that is an error, which the real
// tool writes to its log, and goes on without a helper.
func NewHelperTokens(h Helper) (*Tokens, error) {
	exe, err := FindHelper(h.Name, h.Dirs)
	if err != nil {
		return nil, err
	}
	program := helperProgram{exe, slices.Clone(h.Args), slices.Clone(h.Env)}
	var answers par.Memo[Hostname, string]
	return &Tokens{lookup: func(ctx context.Context, host Hostname) (string, bool, error) {
		token, err := answers.Do(ctx, host, func(ctx context.Context) (string, error) { return program.ask(ctx, host) })
		return token, err == nil, err
	}}, nil
}

// helperProgram is a program and how to run it.
type helperProgram struct {
	exe       string
	args, env []string
}

func (p helperProgram) ask(ctx context.Context, host Hostname) (string, error) {
	stdout, stderr := &subprocess.Head{Limit: helperStdoutBytes}, &subprocess.Head{Limit: helperStderrBytes}
	cmd, err := subprocess.Command(ctx, p.env, "", p.exe, slices.Concat(p.args, []string{"get", host.ASCII()})...)
	if err != nil {
		return "", err
	}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, helperWaitDelay
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", p.failure(err, stdout, stderr)
	}
	token, err := tokenIn(stdout)
	if err != nil {
		return "", fmt.Errorf("credentials helper %s: %w", p.exe, err)
	}
	return token, nil
}

// failure quotes what the program said. It may have said the token, too.
func (p helperProgram) failure(err error, stdout, stderr *subprocess.Head) error {
	said := stderr.Printable()
	if token, _ := tokenIn(stdout); token != "" {
		said = strings.ReplaceAll(said, token, redacted)
	}
	if said == "" {
		said = "it gave no reason"
	}
	return fmt.Errorf("credentials helper %s: %w: %s", p.exe, err, said)
}

// tokenIn reads the answer to "get". Its errors repeat nothing of it.
func tokenIn(answered *subprocess.Head) (string, error) {
	if answered.Over {
		return "", fmt.Errorf("its answer has more than %d bytes", answered.Limit)
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimSpace(answered.Kept), &answer); err != nil {
		return "", errors.New("its answer is not a JSON object")
	}
	var token *string
	if given, ok := answer["token"]; ok && json.Unmarshal(given, &token) != nil {
		return "", errors.New("the token in its answer is not a string")
	}
	if token == nil {
		return "", nil
	}
	return *token, nil
}

const helperPrefix = "terraform-credentials-"

// FindHelper returns the program of a credentials helper that is in the directories, without
// starting it: the one with the newest version; of equal ones that of the first directory. Names
// are compared without regard to case. If there is none that is an error.
func FindHelper(name string, dirs []string) (exe string, err error) {
	var newest *version.Version
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what can't be read has no helper for us
		for _, entry := range entries {
			found := helperFile(entry.Name(), name, runtime.GOOS)
			if found == nil || newest != nil && found.LessThanOrEqual(newest) {
				continue
			}
			path := dir + string(filepath.Separator) + entry.Name() // exec would look for a bare name in PATH
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				exe, newest = path, found
			}
		}
	}
	if exe == "" {
		return "", &Fault{ID: "credentials_helper_not_found", Err: fmt.Errorf("no program for the credentials helper %q: there is no %s in %s",
			name, helperPrefix+name, cmp.Or(strings.Join(dirs, " or "), "any directory"))}
	}
	return exe, nil
}

// helperFile is the version of a helper whose file has this name, 0 if the name has none; nil: it is another file.
// Windows runs only what ends in ".exe"; elsewhere that doesn't matter.
func helperFile(file, name, goos string) *version.Version {
	stem, isExe := strings.CutSuffix(strings.ToLower(file), ".exe")
	rest, ok := strings.CutPrefix(stem, helperPrefix+strings.ToLower(name))
	if !ok || goos == "windows" && !isExe {
		return nil
	}
	text, ok := strings.CutPrefix(cmp.Or(rest, "_v0"), "_v")
	text, _, _ = strings.Cut(text, "_x") // of a protocol that plugins had once
	found, err := version.NewSemver(text)
	if err != nil || !ok {
		return nil
	}
	return found
}
