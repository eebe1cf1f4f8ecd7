package sources

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// CreateRepositoryFlag is the option -create-repository, whose value [CreateRepository] takes.
func CreateRepositoryFlag(given *string) cli.Flag {
	return cli.Option("create-repository=CMD", cli.Func(func(value string) error {
		if strings.TrimSpace(value) == "" {
			return errors.New("a command has to follow")
		}
		*given = value
		return nil
	}),
		"Start this command if the OCI registry doesn't have a repository, and try once more, such as \"aws ecr create-repository --repository-name\". The name of the repository is its last argument. Its words are separated by spaces; no shell reads them. It runs in the root directory. OCI_REGISTRY and OCI_REPOSITORY are in its environment.")
}

// CheckCreateRepository refuses the option -create-repository where there is no registry.
func CheckCreateRepository(given, location string) *problem.Problem {
	if given == "" || places.IsOCI(location) {
		return nil
	}
	return problem.CodedError("invalid_option", "The -create-repository flag needs oci://", "It says how repositories of an OCI registry are created, and the packages go to another place.")
}

const (
	// hookOutput is how much of what the command says an error has.
	hookOutput = 1000
	// hookWaitDelay is how long the output may stay open when the command has ended: what it has started may hold it.
	hookWaitDelay = time.Second
)

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	kept []byte
	cut  bool
}

// Write implements io.Writer.
func (l *lastBytes) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p...)
	if over := len(l.kept) - hookOutput; over > 0 {
		l.kept, l.cut = append(l.kept[:0], l.kept[over:]...), true
	}
	return len(p), nil
}

// String is what was kept, if it is cut with dots in the place of the rest.
func (l *lastBytes) String() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(l.kept), ""))
	if l.cut {
		text = "..." + text
	}
	return text
}

// CreateRepository returns what creates repositories by a command; nil if there is none. Several may run at once.
func CreateRepository(m *cli.Meta, command string) func(context.Context, oci.Repository) error {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil
	}
	return func(ctx context.Context, r oci.Repository) error {
		said := &lastBytes{}
		env := m.Env.With("OCI_REGISTRY="+r.Registry, "OCI_REPOSITORY="+r.Name)
		cmd, err := subprocess.Command(ctx, env, "", words[0], append(words[1:len(words):len(words)], r.Name)...)
		if err == nil {
			cmd.Stdout, cmd.Stderr, cmd.WaitDelay = said, said, hookWaitDelay
			err = cmd.Run()
		}
		if err == nil || errors.Is(err, exec.ErrWaitDelay) {
			return nil
		}
		text := said.String()
		if text != "" {
			text = ": " + text
		}
		return fmt.Errorf("the command %q failed: %w%s", command, err, text)
	}
}
