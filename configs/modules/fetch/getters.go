package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-getter"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// getBucket gets an object of s3 or gcs, or all that a prefix has. Credentials are
// found by the SDKs of these services.
func (f *Fetcher) getBucket(ctx context.Context, from packageSource, dst string) error {
	if f.Offline {
		return ErrOffline
	}
	u, err := url.Parse(from.url)
	if err != nil {
		return withoutURL(err)
	}
	var service getter.Getter = &getter.S3Getter{}
	if from.kind == "gcs" {
		service = &getter.GCSGetter{}
	}
	service.SetClient(&getter.Client{
		Ctx:              ctx,
		Umask:            0o022,
		ProgressListener: &bucketLimit{ctx: ctx, limit: f.bounds.withDefaults().download},
	})
	if from.archive != "" {
		return service.GetFile(dst, u)
	}
	if err := service.Get(dst, u); err != nil {
		return err
	}
	if info, err := os.Stat(dst); err != nil || !info.IsDir() {
		return ErrNotFound // a prefix that nothing has is no error to these services
	}
	return nil
}

// bucketLimit stops objects that are too large, all together. It poses as
// what shows progress, because that is given every body; those of gcs are not.
type bucketLimit struct {
	ctx   context.Context
	limit int64
	read  int64
}

// TrackProgress implements getter.ProgressTracker.
func (b *bucketLimit) TrackProgress(_ string, _, _ int64, stream io.ReadCloser) io.ReadCloser {
	return &bucketBody{ReadCloser: stream, all: b}
}

type bucketBody struct {
	io.ReadCloser
	all *bucketLimit
}

// Read implements io.Reader.
func (b *bucketBody) Read(p []byte) (int, error) {
	n, err := cancellable{b.all.ctx, b.ReadCloser}.Read(p)
	b.all.read += int64(n)
	if b.all.read > b.all.limit {
		return 0, &hosts.TooLargeError{Limit: b.all.limit}
	}
	return n, err
}

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
	return fmt.Errorf("hg: %w: %s", err, login.ReplaceAllString(strings.TrimSpace(said.text.String()), "//"))
}

// complaint keeps the beginning of what is written to it.
type complaint struct{ text strings.Builder }

// Write implements io.Writer.
func (c *complaint) Write(p []byte) (int, error) {
	c.text.Write(p[:min(len(p), maxComplaint-c.text.Len())])
	return len(p), nil
}
