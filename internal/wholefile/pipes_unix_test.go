//go:build unix

package wholefile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestPipes_EndWithTheirContext has pipes whose other side never comes.
func TestPipes_EndWithTheirContext(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted")
	for name, use := range map[string]func(ctx context.Context, pipe string) error{
		"read": func(ctx context.Context, pipe string) error {
			_, err := ReadAny(ctx, pipe, 10)
			return err
		},
		"append": func(ctx context.Context, pipe string) error { return Append(ctx, pipe, []byte("x")) },
		"open": func(ctx context.Context, pipe string) error {
			_, err := Open(ctx, pipe, os.O_WRONLY|os.O_APPEND, 0)
			return err
		},
		"stream": func(ctx context.Context, _ string) error {
			stream, writer := io.Pipe()
			defer writer.Close()
			_, err := ReadFrom(ctx, stream, "standard input", 10)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			must.Succeed(t, syscall.Mkfifo(pipe, 0o600))
			ctx, interrupt := context.WithCancelCause(t.Context())

			ended := make(chan error)
			go func() { ended <- use(ctx, pipe) }()
			interrupt(interrupted)

			must.Fail(t, <-ended, interrupted)
			release(t, pipe)
		})
	}
}

// release ends the system call that waits for the other side of a pipe.
func release(t *testing.T, pipe string) {
	t.Helper()
	both, err := os.OpenFile(pipe, os.O_RDWR, 0)
	must.Succeed(t, err)
	must.Succeed(t, both.Close())
}

// A context that is done ends waiting, and nothing else.
func TestReadAny_NeedsNoContextForFiles(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	path := filepath.Join(t.TempDir(), "file")
	must.Fail(t, must.ErrorOf(ReadAny(ctx, path, 7)), fs.ErrNotExist)
	must.Succeed(t, os.WriteFile(path, []byte("content"), 0o600))
	must.Succeed(t, Append(ctx, path, nil))
	must.Equal(t, string(must.Get(ReadAny(ctx, path, 7))(t)), "content")
}

func TestPipes_ArePassedOn(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.Succeed(t, syscall.Mkfifo(pipe, 0o600))
	written := make(chan error)
	go func() { written <- Append(t.Context(), pipe, []byte("content")) }()

	content := must.Get(ReadAny(t.Context(), pipe, 7))(t)

	must.Succeed(t, <-written)
	must.Equal(t, string(content), "content")
	_, err := ReadFrom(t.Context(), strings.NewReader("content"), "standard input", 6)
	must.Fail(t, err, ErrTooLarge)
	must.Contain(t, err, "standard input")
}
