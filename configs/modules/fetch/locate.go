package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// location is where a package is, after all that servers say about it.
type location struct {
	origin
	address string // what the origin was read from
	subdir  string // that servers told; it may be a pattern
	hopped  bool   // whether servers told it
}

const (
	// maxHops is how often a server may say that the package is elsewhere.
	maxHops = 10
	// maxPageBytes is how far a page is read.
	maxPageBytes = 1 << 20
)

// locate finds out where a package is. Its address is rewritten already.
func (f *Fetcher) locate(ctx context.Context, w *workshop, req modules.FetchRequest) (location, error) {
	if at, ok := w.store.recall(ctx, req); ok {
		return at, nil
	}
	release, err := w.gate.Acquire(ctx, 0)
	if err != nil {
		return location{}, err
	}
	defer release()
	at := location{address: req.Package}
	for hops := 0; ; hops++ {
		if at.origin, err = parseOrigin(at.address, at.hopped); err != nil {
			return location{}, failed(stepAddress, err)
		}
		if !at.isPage() {
			if f.Offline && at.kind == "git" && at.archive == "" {
				at.known = req.Commit
			}
			return at, nil
		}
		if hops == maxHops {
			return location{}, failed(stepLocate, fmt.Errorf("the package is always elsewhere, after %d answers still; the last one leads to %s", maxHops, redact(at.address)))
		}
		next, err := f.ask(ctx, at.origin)
		if err != nil {
			return location{}, failed(stepLocate, err)
		}
		at = location{address: f.rewritten(next.Package), subdir: path.Join(next.Subdir, at.subdir), hopped: true}
	}
}

// rewritten is what is to be used instead of an address.
func (f *Fetcher) rewritten(pkg string) string {
	if f.Rewrite == nil {
		return pkg
	}
	return f.Rewrite(pkg)
}

// ask asks a server where a package is.
func (f *Fetcher) ask(ctx context.Context, from origin) (modules.Remote, error) {
	if f.Offline {
		return modules.Remote{}, fmt.Errorf("%w: %s says where it is", ErrOffline, redact(from.url))
	}
	u, err := url.Parse(from.url)
	if err != nil {
		return modules.Remote{}, withoutURL(err)
	}
	query := splitQuery(u.RawQuery)
	query.parts = append(query.parts, "terraform-get=1")
	u.RawQuery = query.String()
	resp, err := f.get(ctx, u, nil)
	if err != nil {
		return modules.Remote{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return modules.Remote{}, statusOf(resp)
	}
	told := resp.Header.Get("X-Terraform-Get")
	if told == "" {
		if told, err = readMeta(resp.Body, maxPageBytes); err != nil {
			return modules.Remote{}, fmt.Errorf("reading %s: %w", hosts.RedactURL(resp.Request.URL), err)
		}
	}
	if told == "" {
		return modules.Remote{}, fmt.Errorf("%w: %s is neither an archive by its name, nor does it say where the package is. "+
			"If it is one, say so with the parameter archive, as in \"?archive=zip\"", ErrNotFound, hosts.RedactURL(resp.Request.URL))
	}
	return toldBy(resp.Request.URL, told)
}

// toldBy reads what a server said of where a package is.
func toldBy(server *url.URL, told string) (modules.Remote, error) {
	if strings.HasPrefix(told, "/") || strings.HasPrefix(told, "./") || strings.HasPrefix(told, "../") {
		relative, err := url.Parse(told)
		if err != nil {
			return modules.Remote{}, fmt.Errorf("the server's answer is no address: %w", withoutURL(err))
		}
		told = server.ResolveReference(relative).String()
	}
	address, err := modules.ParseAddress(told, getproviders.Terraform(""))
	if err != nil {
		return modules.Remote{}, fmt.Errorf("the server's answer is no address: %w", err)
	}
	remote, ok := address.(modules.Remote)
	if !ok {
		return modules.Remote{}, errors.New("the server answers with the address of a registry's module, not with that of a package")
	}
	return remote, nil
}

// maxRedirects is how many redirects of HTTP are followed for each request.
const maxRedirects = 10

// get sends a request for a URL. What it gets is not encoded for the way: that
// would change the bytes that are hashed.
func (f *Fetcher) get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL that can be asked", hosts.RedactURL(u)) // err would show the query
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Accept-Encoding", "identity")
	return hosts.Do(f.Client, req, maxRedirects)
}
