package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

const (
	helperStdoutBytes = 1 << 20
	helperStderrBytes = 4 << 10

	// helperWaitDelay is how long the output may stay open after the program's
	// end, or after it was told to end: programs that it started may hold it.
	helperWaitDelay = time.Second
)

// Helper says which program is a credentials helper and how to run it.
type Helper struct {
	Name string   // its file is terraform-credentials-NAME; a version may follow, such as "_v1.2.0"
	Args []string // come before those that the protocol asks for
	Dirs []string // where it is looked for; those that don't exist don't matter
	Env  []string // its environment, like that of os.Environ; nil: that of this process
}

// HelperTokens are tokens that a program knows. It is run as
//
//	terraform-credentials-NAME ARGS... get registry.example.com
//
// with the host in punycode, and answers with a JSON object: {"token": "..."}, or
// one without a token if it has none for that host. It is asked once for each host, and
// again only if it failed. Its failure is an error that holds what it said on standard error.
//
// A nil *HelperTokens knows no tokens. It prints without those that it knows.
type HelperTokens struct {
	concealed
	ask     func(context.Context, Hostname) (string, error) // for why it is a function, see StaticTokens
	answers par.Memo[Hostname, string]
}

// NewHelperTokens finds the program; of several versions in the directories
// the newest. If there is none the error is a *HelperNotFoundError. The real
// tool writes that to its log and goes on without a helper.
func NewHelperTokens(h Helper) (*HelperTokens, error) {
	exe, err := findHelper(h.Name, h.Dirs)
	if err != nil {
		return nil, err
	}
	return &HelperTokens{ask: helperProgram{exe, slices.Clone(h.Args), slices.Clone(h.Env)}.ask}, nil
}

// Token implements Credentials. When ctx ends, so does the program.
func (h *HelperTokens) Token(ctx context.Context, host Hostname) (string, error) {
	token, _, err := h.find(ctx, host)
	return token, err
}

func (h *HelperTokens) find(ctx context.Context, host Hostname) (token string, known bool, err error) {
	if h == nil {
		return "", false, nil
	}
	token, err = h.answers.Do(ctx, host, func(ctx context.Context) (string, error) { return h.ask(ctx, host) })
	return token, err == nil, err
}

// helperProgram is a program and how to run it.
type helperProgram struct {
	exe       string
	args, env []string
}

func (p helperProgram) ask(ctx context.Context, host Hostname) (string, error) {
	stdout, stderr := &capped{limit: helperStdoutBytes}, &capped{limit: helperStderrBytes}
	cmd := exec.CommandContext(ctx, p.exe, slices.Concat(p.args, []string{"get", host.ASCII()})...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.env, stdout, stderr, helperWaitDelay
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", p.failure(err, stdout, stderr)
	}
	token, err := stdout.token()
	if err != nil {
		return "", fmt.Errorf("credentials helper %s: %w", p.exe, err)
	}
	return token, nil
}

// failure quotes what the program said. It may have said the token, too.
func (p helperProgram) failure(err error, stdout, stderr *capped) error {
	said := printable(string(stderr.kept))
	if token, _ := stdout.token(); token != "" {
		said = strings.ReplaceAll(said, token, redacted)
	}
	if said == "" {
		said = "it gave no reason"
	}
	return fmt.Errorf("credentials helper %s: %w: %s", p.exe, err, said)
}

// printable leaves out what a terminal could obey.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text))
}

// capped keeps the first bytes that are written to it. It takes the others as
// well, so that whoever writes them doesn't wait for ever.
type capped struct {
	limit int
	kept  []byte
	over  bool
}

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - len(c.kept)
	c.over = c.over || len(p) > room
	c.kept = append(c.kept, p[:min(room, len(p))]...)
	return len(p), nil
}

// token reads the answer to "get". Its errors repeat nothing of it.
func (c *capped) token() (string, error) {
	if c.over {
		return "", fmt.Errorf("its answer has more than %d bytes", c.limit)
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimSpace(c.kept), &answer); err != nil {
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
