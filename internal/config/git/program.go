package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

const (
	// stopDelay is how long git may take to remove its lock files after SIGTERM, and how long its
	// child processes may keep its output open after its end.
	stopDelay = 500 * time.Millisecond

	// answerBytes bounds git's output: the refs of the largest known repositories are a third of
	// it.
	answerBytes = 128 << 20
	stderrBytes = 8 << 10
)

// strict are settings that override the user's: git does only what it is asked for, and files are
// the same on every system.
var strict = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.splitIndex=false", "core.sparseCheckout=false",
	"core.autocrlf=false", "core.eol=lf", "core.protectNTFS=true", "core.protectHFS=true",
	"gc.auto=0", "maintenance.auto=false", "fetch.writeCommitGraph=false", "fetch.prune=false", "fetch.pruneTags=false",
	"submodule.recurse=false", "protocol.ext.allow=never", "advice.detachedHead=false",
	// A pack appears when it is complete. Loose objects would appear one by one, a commit before
	// its files.
	"fetch.unpackLimit=1",
}

// call is one run of git.
type call struct {
	args []string
	dir  string   // working directory; "" means the root
	env  []string // in addition to the variables of every run
	in   string   // stdin
	url  string   // of the repository, for messages
	key  []byte   // SSH key
	// distrusted: see remote
	distrusted bool
}

var errAnswer = errors.New("the answer is too long")

// askedTimes is how often git is run again if its output is incomplete.
const askedTimes = 3

// ask runs git without changes to the store, and returns its output. The error is an *exitError if
// git has run.
func (r *Repositories) ask(ctx context.Context, c call) (string, error) {
	for range askedTimes {
		stdout, err := r.start(ctx, c)
		switch {
		case err != nil:
			return "", err
		case stdout.whole:
			return string(stdout.head.Kept), nil
		}
	}
	return "", fmt.Errorf("git %s: its output is kept open by another program, so it may not be whole", c.name())
}

// run runs git and ignores its output.
func (r *Repositories) run(ctx context.Context, c call) error {
	_, err := r.start(ctx, c)
	return err
}

// start runs git once. The output may be incomplete on a busy machine, or if a child process keeps
// it open.
func (r *Repositories) start(ctx context.Context, c call) (*answer, error) {
	env, forget, err := r.environment(c)
	if err != nil {
		return nil, err
	}
	defer forget()
	var args []string
	for _, setting := range strict {
		args = append(args, "-c", setting)
	}
	stdout, stderr := &answer{head: subprocess.Head{Limit: answerBytes}}, &subprocess.Tail{Limit: stderrBytes}
	cmd, err := subprocess.Command(ctx, env, c.dir, cmp.Or(r.Program, "git"), append(args, c.args...)...)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, ErrNoProgram
	}
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, stopDelay
	if c.in != "" {
		cmd.Stdin = strings.NewReader(c.in)
	}
	stopAll := ownGroup(cmd)
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		stopAll()
		return nil, context.Cause(ctx)
	case stdout.head.Over:
		return nil, fmt.Errorf("git %s: %w: it has more than %d bytes", c.name(), errAnswer, answerBytes)
	case cmd.Process == nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound)): // the second on Windows
		return nil, fmt.Errorf("%w: %w", ErrNoProgram, err)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, &exitError{command: c.name(), err: err, said: quote(string(stderr.Kept), c.url)}
	}
	return stdout, nil
}

// name returns the git command.
func (c call) name() string {
	i := slices.IndexFunc(c.args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	return c.args[max(i, 0)]
}

// answer is git's output.
type answer struct {
	head  subprocess.Head
	whole bool // it was read to its end
}

// Write implements io.Writer. Its error ends git, which could go on for hours.
func (a *answer) Write(p []byte) (int, error) {
	if a.head.Write(p); a.head.Over {
		return 0, errAnswer
	}
	return len(p), nil
}

// ReadFrom implements io.ReaderFrom.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(struct{ io.Writer }{a}, r)
	a.whole = err == nil
	return n, err
}

// leftOut are variables that would make git use another repository, or change the language of
// quoted messages.
var leftOut = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ATTR_SOURCE", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_DEFAULT_HASH", "GIT_DIR",
	"GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_INDEX_VERSION", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE",
	"GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE", "GIT_TEMPLATE_DIR", "GIT_WORK_TREE", "LANGUAGE", "LC_ALL",
}

// environment returns git's environment, and a function that removes the key from the disk.
func (r *Repositories) environment(c call) (env []string, forget func(), err error) {
	for _, entry := range r.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(leftOut, func(n string) bool { return subprocess.SameName(n, name) }) {
			env = append(env, entry)
		}
	}
	env = append(env, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "LC_MESSAGES=C", "GIT_DEFAULT_REF_FORMAT=files")
	if c.distrusted {
		env = append(env, "GIT_PROTOCOL_FROM_USER=0")
	}
	env = append(env, c.env...)
	if c.key == nil {
		return env, func() {}, nil
	}
	dir, file, err := writeKey(c.key)
	if err != nil {
		return nil, nil, err
	}
	ssh := cmp.Or(subprocess.Variable(r.Environ, "GIT_SSH_COMMAND"), "ssh")
	return append(env, "GIT_SSH_COMMAND="+ssh+" -i "+shellQuote(file)), dir.Remove, nil
}

// writeKey writes a key into a directory that only the user can read. If this run is killed, a
// later one removes the directory.
func writeKey(key []byte) (dir *scratch.Dir, path string, err error) {
	if dir, err = scratch.Make(os.TempDir()); err != nil {
		return nil, "", err
	}
	path = filepath.Join(dir.Path, "key")
	if err := os.WriteFile(path, key, 0o600); err != nil {
		dir.Remove()
		return nil, "", err
	}
	return dir, path, nil
}

// shellQuote quotes a path for the shell with which git runs ssh. On Windows that is a POSIX shell,
// too, in which a backslash is special.
func shellQuote(path string) string {
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// The reasons why a checkout fails.
var (
	// ErrAddress: the URL or the ref must not be passed to git.
	ErrAddress = errors.New("this is not the address of a git repository")
	// ErrNotFound: the repository exists, the ref doesn't.
	ErrNotFound = errors.New("the repository has no such ref")
	// ErrUnreachable: the repository doesn't exist, or can't be reached with git's login.
	ErrUnreachable = errors.New("the repository can't be read")
	// ErrOffline: the commit isn't in the store, and requests aren't allowed.
	ErrOffline = errors.New("it is not in the store, and no requests are sent while offline")
	// ErrNoProgram: git isn't installed.
	ErrNoProgram = errors.New("git is not installed: install it, or put it on PATH")
)

// failure adds the repository and ref to an error. Source is the URL without login and query, which the wrapped error doesn't
// have either. If the context has ended, its cause replaces the error.
func failure(ctx context.Context, req Request, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	at, ref := shownURL(req.URL), ""
	if req.Ref != "" {
		ref = ", ref " + strconv.Quote(req.Ref)
	}
	failed := &getproviders.Fault{Subject: getproviders.Subject{Source: at}}
	advice := ""
	if exit, ok := errors.AsType[*exitError](err); ok {
		advice = exit.advice()
	}
	_, nested := errors.AsType[*getproviders.Fault](err) // of a submodule, with its own hint
	switch {
	case nested:
	case errors.Is(err, ErrNotFound) && ref != "":
		ref, err = "", &getproviders.Fault{Kind: err, Err: fmt.Errorf("the repository has no ref %q", req.Ref)}
		failed.Hint = "a ref is a tag, a branch or a commit. This command lists tags and branches:\n  git ls-remote " + at
	case errors.Is(err, ErrUnreachable):
		failed.Hint = cmp.Or(advice, "check the address, and whether this user may read the repository") + ". To try it, run:\n  git ls-remote " + at
	default:
		failed.Hint = advice
	}
	failed.Err = fmt.Errorf("git repository %s%s: %w", at, ref, err)
	return failed
}

// exitError is a failed run of git, with the last lines of its output.
type exitError struct {
	command string // "fetch"
	err     error
	said    string // without secrets; may be ""
}

func (e *exitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s: %s", e.command, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.said)
}

// advice returns what to do about known output of git, or "".
func (e *exitError) advice() string {
	for _, known := range []struct{ words, advice string }{
		{"Permission denied (publickey", "the server accepts no SSH key of this user: add one that it accepts to ssh-agent or ~/.ssh, or change the source to https"},
		{"Host key verification failed", "ssh doesn't know the key of the host: connect once with ssh, and compare the key that it shows with what those who run the host publish. If it is the same, add it to ~/.ssh/known_hosts"},
		{"could not read Username", "the repository is private, or doesn't exist, and git has no login for the host: set up a credential helper of git, or use an SSH key"},
		{"terminal prompts disabled", "the repository is private, or doesn't exist, and git has no login for the host: set up a credential helper of git, or use an SSH key"},
		{"Authentication failed", "the server accepts none of the logins that git has for the host: check the credential helper of git, and whether a token has expired"},
		{"response 407", "the proxy that HTTPS_PROXY or git's http.proxy names wants a login, as in http://USER:PASSWORD@HOST:PORT"},
		{"Couldn't connect to server", "no server answers there: check the host and the port, HTTPS_PROXY, and the network of this machine"},
		{"Could not resolve host", "the name of the host can't be resolved: check how it is written, and the DNS, VPN and network of this machine"},
		{"Connection refused", "no server listens there, or a firewall refuses: check host and port of the source"},
		{"certificate", "git doesn't trust the certificate of the server: ask those who run it, or a proxy on the way, which authority is theirs. If it issued this certificate, add the authority's certificate to those of the system, or name a file with it by git's http.sslCAInfo"},
		{"dubious ownership", "the repository belongs to another user, whose hooks and settings git would run: find out who that is. If you trust them, name the repository in git's safe.directory"},
	} {
		if strings.Contains(e.said, known.words) {
			return known.advice
		}
	}
	return ""
}

func (e *exitError) Unwrap() error { return e.err }
