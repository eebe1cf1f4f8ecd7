package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tfdeps/tfdeps/getproviders"
)

// cloneHg makes a directory with a revision of a Mercurial repository.
func (f *Fetcher) cloneHg(ctx context.Context, from packageSource, dst string) error {
	if f.Offline {
		return ErrOffline
	}
	if err := f.runHg(ctx, "clone", "--noupdate", "--", from.url, dst); err != nil {
		return fmt.Errorf("%w: %w", getproviders.ErrUnreachable, err)
	}
	args := []string{"--cwd", dst, "update"}
	if from.ref != "" {
		args = append(args, "--rev="+from.ref)
	}
	if err := f.runHg(ctx, args...); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dst, ".hg"))
}

// maxComplaint is how much is shown of what hg has to say.
const maxComplaint = 4 << 10

// runHg runs hg as scripts do: it asks no questions, and no alias changes what a
// command is.
func (f *Fetcher) runHg(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "hg", append([]string{"--noninteractive"}, args...)...)
	cmd.Env = slices.Concat(f.Environ, []string{"HGPLAIN=1"})
	cmd.WaitDelay = time.Second // ssh may hold the pipe open when hg is gone
	said := &complaint{}
	cmd.Stderr = said
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("hg is not installed: install Mercurial, or put it on PATH")
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("hg: %w: %s", err, login().ReplaceAllString(printable(said.text.String()), "//"))
}

// printable leaves out what a terminal could obey: a server has its words in hg's.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' {
			return r
		}
		return -1
	}, text))
}

// complaint keeps the beginning of what is written to it.
type complaint struct{ text strings.Builder }

// Write implements io.Writer.
func (c *complaint) Write(p []byte) (int, error) {
	c.text.Write(p[:min(len(p), maxComplaint-c.text.Len())])
	return len(p), nil
}
