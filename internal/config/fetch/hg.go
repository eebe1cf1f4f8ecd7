package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/git"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// cloneHg clones a Mercurial repository into a new directory, and updates it to a revision. hg runs in that
// empty directory, because settings of a repository around the working directory can start programs.
func cloneHg(ctx context.Context, environ []string, from packageSource, dst string) error {
	if err := os.Mkdir(dst, 0o777); err != nil {
		return err
	}
	if err := runHg(ctx, environ, dst, "clone", "--noupdate", "--", from.url, "."); err != nil {
		return fmt.Errorf("%w: %w", getproviders.ErrUnreachable, err)
	}
	args := []string{"update", "--config=paths.default=" + from.url} // base of relative subrepositories
	if from.ref != "" {
		args = append(args, "--rev="+from.ref)
	}
	if !strings.HasPrefix(from.url, "file:") { // hg would follow a subrepository to a private one of this machine
		args = append(args, "--config=subrepos.hg:allowed=false")
	}
	return runHg(ctx, environ, dst, args...)
}

// maxComplaint is how much of hg's error output is shown.
const maxComplaint = 4 << 10

// hgOptions keep hg from prompting, and from starting git and svn.
var hgOptions = []string{"--noninteractive", "--config=subrepos.git:allowed=false", "--config=subrepos.svn:allowed=false"}

// runHg runs hg without aliases, as scripts do, and without the settings of repositories, even of cloned ones on
// this machine.
func runHg(ctx context.Context, environ []string, dir string, args ...string) error {
	env := slices.Concat(environ, []string{"HGPLAIN=1", "HGRCSKIPREPO=1"})
	cmd, err := subprocess.Command(ctx, env, dir, "hg", slices.Concat(hgOptions, args)...)
	if err != nil {
		return errors.New("hg is not installed: install Mercurial, or put it on PATH")
	}
	said := &subprocess.Head{Limit: maxComplaint}
	cmd.Stderr = said
	if err = cmd.Run(); err == nil {
		return nil
	}
	return fmt.Errorf("hg: %w: %s", err, withoutSecrets(said.Printable(), args))
}

// withoutSecrets removes possible secrets of the arguments' URLs, and all logins, from hg's output.
func withoutSecrets(said string, args []string) string {
	for _, arg := range args {
		if strings.Contains(arg, "://") {
			said = git.HideSecrets(arg).Replace(said)
		}
	}
	return login().ReplaceAllString(said, "//")
}
