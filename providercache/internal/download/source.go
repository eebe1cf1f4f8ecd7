package download

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// errRestart says that a source continues with the first byte of the archive: the bytes read so far have to be discarded.
var errRestart = errors.New("the archive begins again")

// source reads the bytes of an archive.
type source interface {
	io.ReadCloser
	Length() int64 // of the whole archive; -1: unknown so far
	// Renew is called if the checksum is wrong. It returns errRestart if the bytes
	// came from several responses, so that reading them again may help, else nil.
	Renew() error
	// Modified returns when the archive was last modified, according to its server or the file system; zero: unknown.
	Modified() time.Time
}

// localFile is an archive on this machine.
type localFile struct {
	*os.File
	size     int64
	modified time.Time
}

func (f localFile) Length() int64 { return f.size }
func (f localFile) Renew() error  { return nil }

func (f localFile) Modified() time.Time { return f.modified }

// openFile opens an archive on this machine.
func openFile(path string) (source, error) {
	file, info, err := patient.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	return localFile{file, info.Size(), info.ModTime()}, nil
}

// newRequest returns a request for an archive without content encoding, which would change the bytes to hash.
func newRequest(ctx context.Context, at getproviders.HTTPArchive) (*http.Request, error) {
	if at.URL == nil {
		return nil, errors.New("the package has no URL")
	}
	ctx = hosts.WithOwnConnection(hosts.WithArchiveOwner(ctx, at.Owner))
	if at.Retries != nil {
		ctx = hosts.WithRetries(ctx, *at.Retries)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL that can be asked", at) // err would show the query
	}
	req.Header.Set("Accept-Encoding", "identity")
	return req, nil
}

// checkResponse returns an error if a response has another status, or a content encoding.
func checkResponse(resp *http.Response, status int) error {
	if resp.StatusCode != status {
		gaveUp := 0
		if hosts.HasRetries(resp.Request.Context()) && resp.StatusCode >= http.StatusInternalServerError {
			gaveUp = hosts.Attempts(resp)
		}
		return newStatusError(resp, gaveUp, hosts.SaidBy(resp))
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fmt.Errorf("GET %q: the server encoded the archive as %q although it was asked not to", hosts.RedactURL(resp.Request.URL), encoding)
	}
	return nil
}

// newStatusError returns the error for a response with an unexpected status to a request for an archive. It matches
// getproviders.ErrUnauthorized or getproviders.ErrUnreachable. gaveUp is how many attempts were made, if the message is
// to say that, else 0. said is the server's own message, escaped, for the end of the text; "": none.
func newStatusError(resp *http.Response, gaveUp int, said string) *hosts.Fault {
	url, status := hosts.RedactURL(resp.Request.URL), resp.StatusCode
	text := fmt.Sprintf("GET %q: %s", url, resp.Status)
	if gaveUp > 0 { // in OpenTofu's words
		text += fmt.Sprintf(": GET %s giving up after %d attempt(s)", url, gaveUp)
	}
	failed := &hosts.Fault{Kind: getproviders.ErrUnreachable, Err: errors.New(text + said), Advice: hosts.StatusAdvice(status), Status: status}
	if hosts.Refuses(status) {
		failed.Kind = getproviders.ErrUnauthorized
		failed.Advice = "the archive needs a login that may read it, or its URL has expired. Run again; if that fails too, check the login in .netrc or the token of the host"
	}
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		failed.Advice = "the source lists the package, but the server doesn't have its archive: tell the publisher of the provider, or those who run the mirror"
	case status == http.StatusForbidden && said != "":
		failed.Advice = "the server says why it refuses the archive: ask those who run it, or check the login in .netrc or the token of the host"
	}
	return failed
}

// Opening says how to open an archive.
type Opening struct {
	Location getproviders.Location
	Client   *http.Client // for an HTTPArchive
	Known    bool         // its checksum is known, so that parts of different archives are detected
	// Relocate returns the archive's current location, because a signed URL may have expired.
	Relocate func(context.Context) (getproviders.Location, error)
}

// Request asks for one archive.
type Request struct {
	Opening
	Expected [sha256.Size]byte // the checksum that the archive has to have, if it is Known
	Limit    int64             // bytes that an archive may have

	// Admit is called before the first byte is read, and again if the download restarts: its error ends the
	// download. total is the archive's size, or -1 if it isn't known. nil admits every archive.
	Admit func(total int64) error

	Path       string // of the new file
	PartialDir string // where the file is instead, if it is to be kept for a later run; "": never

	Now      func() time.Time
	Progress func(done, total int64) // nil: progress isn't reported
	Kept     func(bytes int64)       // called if the download fails, with the number of bytes that are kept for a later run; may be nil

	// Hash reads the archive instead of a file, and returns its size and SHA-256;
	// nil: the archive is written to Path, and the functions below are called.
	Hash func(ctx context.Context, from io.Reader, total int64) (size int64, sum [sha256.Size]byte, err error)
	// Follow reads the archive while it is written; mark counts the bytes written, and size is the total, or -1
	// if it isn't known. Restart removes what Follow made of the archive, because the download restarts.
	Follow  func(ctx context.Context, file io.ReaderAt, mark *par.Mark, size int64)
	Restart func() error
	// Received is called after the last byte.
	Received func()
}
