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

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

const (
	helperStdoutBytes = 1 << 20
	helperStderrBytes = 4 << 10
)

// NewHelperTokens returns the tokens of a credentials helper. Its program, the file exe, is run as
//
//	terraform-credentials-NAME ARGS... get registry.example.com
//
// with the host in punycode, and prints a JSON object: {"token": "..."}, or one without a token if it has none for the host. It is run
// once for each host, and again only after a failure. An error has its output on standard error. When the context ends, the program is
// stopped. args precede the protocol's arguments; env is its environment, in the form of os.Environ; nil means that of this process.
func NewHelperTokens(exe string, args, env []string) *Tokens {
	program := helperProgram{exe, slices.Clone(args), slices.Clone(env)}
	var answers par.Memo[Hostname, string]
	return &Tokens{lookup: func(ctx context.Context, host Hostname) (string, bool, error) {
		token, err := answers.Do(ctx, host, func(ctx context.Context) (string, error) { return program.ask(ctx, host) })
		return token, err == nil, err
	}}
}

// helperProgram is the program with its arguments and environment.
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
	cmd.Stdout, cmd.Stderr = stdout, stderr
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

// failure returns an error with the program's output, without the token.
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

// tokenIn reads the answer to "get". Its errors don't repeat the answer.
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
