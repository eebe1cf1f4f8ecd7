package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/internal/par"
)

// Do sends a request, following at most maxRedirects redirects, and returns
// the response with its body unread. Errors match ErrRequest, and hold
// neither userinfo nor query values (those of client.Do do). Sensitive
// headers such as Authorization never reach another host than the first.
// A nil client is that of DefaultClient.
func Do(client *http.Client, req *http.Request, maxRedirects int) (*http.Response, error) {
	return do(client, req, redirectPolicy(maxRedirects))
}

func do(client *http.Client, req *http.Request, policy func(*http.Request, []*http.Request) error) (*http.Response, error) {
	if client == nil {
		client = DefaultClient()
	}
	limited := *client
	made := new(int)
	limited.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		*made = 0 // of the next hop, which may never be asked
		return policy(next, via)
	}
	req = req.WithContext(context.WithValue(req.Context(), attemptsKey{}, made))
	resp, err := limited.Do(req)
	if err != nil { // the client's own errors have the URL of the hop that failed, in full
		at := req.URL
		if u, ok := errors.AsType[*url.Error](err); ok {
			if hop, err := url.Parse(u.URL); err == nil {
				at = hop
			}
		}
		return nil, unanswered(req.Method, at, *made, withoutURL(err))
	}
	if resp.Request == nil { // a RoundTripper of the caller's that leaves it out
		resp.Request = req
	}
	return resp, nil
}

// Attempts returns how often the request of a response was sent, retries
// included; 1 if the response doesn't come from a client of NewClient.
func Attempts(resp *http.Response) int {
	if resp == nil || resp.Request == nil {
		return 1
	}
	return attemptsOf(resp.Request.Context())
}

// ReadAll reads a body that may have at most limit bytes, and closes it. Errors are
// those of [BodyFailed]; that of a larger body matches ErrTooLarge, too.
func ReadAll(resp *http.Response, limit int64) ([]byte, error) {
	defer resp.Body.Close()
	if resp.ContentLength > limit {
		return nil, BodyFailed(resp, TooLarge(limit))
	}
	ctx := context.Background()
	if resp.Request != nil {
		ctx = resp.Request.Context()
	}
	body, err := io.ReadAll(io.LimitReader(metered{resp.Body, ctx}, limit+1))
	switch {
	case err != nil:
	case int64(len(body)) > limit:
		err = TooLarge(limit)
	default:
		err = count(ctx, ctx, DecodedBytes(body))
	}
	if err != nil {
		return nil, BodyFailed(resp, err)
	}
	return body, nil
}

// BodyFailed says why the body of a response wasn't read to its end. It matches ErrRequest.
func BodyFailed(resp *http.Response, err error) error {
	err = &bodyFailure{err}
	if resp.Request == nil {
		return unanswered("", nil, 1, err)
	}
	return unanswered(resp.Request.Method, resp.Request.URL, Attempts(resp), err)
}

// DocumentRequest says which document GetDocument asks for.
type DocumentRequest struct {
	URL          *url.URL
	Header       http.Header // nil: none besides those of the client
	MaxRedirects int         // how many redirects are followed; 0: none, a redirect is an error
	MaxBytes     int64       // a 200 body that is larger is an error
}

// Document is the answer to a DocumentRequest, whatever its status.
type Document struct {
	URL        *url.URL // where the body came from in the end; relative URLs in it are resolved against this
	Status     string   // "503 Service Unavailable": the standard words for the code, not the server's
	StatusCode int
	Header     http.Header
	Body       []byte // of a response that isn't 200 the first 4 KiB at most
	Said       string // of such a response, see SaidBy
	Attempts   int    // how often the last hop was asked; 1: no retry was made
}

// failureBytes is how much of a body is kept that comes with a status other
// than 200: enough for an error message of the server's.
const failureBytes = 4 << 10

// GetDocument asks for a small document and reads it whole. The status is the
// caller's to judge: an error means that there was no complete answer, and
// matches ErrRequest, and ErrTooLarge if that is the reason.
//
// A URL at https isn't left for one at http, but for one of this machine: the error holds
// ErrPlainHTTP, and nothing is asked there.
func GetDocument(ctx context.Context, client *http.Client, req DocumentRequest) (*Document, error) {
	for tried := 0; ; tried++ {
		doc, err := getOnce(ctx, client, req)
		if !isTruncated(err) || tried >= optionsOf(client).Retries {
			return doc, err
		}
		if err := par.Pause(ctx, RetryWait(client, tried, nil)); err != nil {
			return nil, err
		}
	}
}

// isTruncated reports whether a body broke off, for which a client has no retries of its own. What
// came too slowly would do so again.
func isTruncated(err error) bool {
	var late interface{ Timeout() bool }
	failed, ok := errors.AsType[*bodyFailure](err)
	return ok && !errors.Is(err, ErrTooLarge) && !(errors.As(failed.error, &late) && late.Timeout()) && !errors.Is(err, context.Canceled) && !errors.Is(err, par.ErrNoRoom)
}

// bodyFailure marks the errors of bodies.
type bodyFailure struct{ error }

// Unwrap returns the error.
func (b *bodyFailure) Unwrap() error { return b.error }

func getOnce(ctx context.Context, client *http.Client, req DocumentRequest) (*Document, error) {
	get := &http.Request{Method: http.MethodGet, URL: req.URL, Header: req.Header.Clone()}
	if get.Header == nil {
		get.Header = http.Header{}
	}
	resp, err := do(client, get.WithContext(ctx), metadataPolicy(req.MaxRedirects))
	if err != nil {
		return nil, err
	}
	doc := &Document{
		URL:        resp.Request.URL,
		Status:     strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))),
		StatusCode: resp.StatusCode,
		Header:     resp.Header,
		Attempts:   Attempts(resp),
	}
	if resp.StatusCode == http.StatusOK {
		if doc.Body, err = ReadAll(resp, req.MaxBytes); err != nil {
			return nil, err
		}
		return doc, nil
	}
	doc.Body = readSome(resp)
	doc.Said = said(resp, doc.Body)
	return doc, nil
}

// readSome returns the beginning of a body that nothing depends on.
func readSome(resp *http.Response) []byte {
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, failureBytes))
	return body
}

// metadataPolicy is redirectPolicy for what decides which packages and modules count:
// what is requested confidentially is never redirected to plain HTTP.
func metadataPolicy(limit int) func(*http.Request, []*http.Request) error {
	follow := redirectPolicy(limit)
	return func(next *http.Request, via []*http.Request) error {
		if next.URL.Scheme == "http" && Confidential(via[0].URL) && !Confidential(next.URL) {
			return fmt.Errorf("redirected to %s: %w", RedactURL(next.URL), ErrPlainHTTP)
		}
		return follow(next, via)
	}
}

// redirectPolicy follows at most limit redirects, to any host, by https and
// http. What identifies the user stays with the origin that it was meant for:
// the standard library would also send it to subdomains and other ports, and
// to plain http. It isn't sent again when the way leads back, because it is
// another host that chose that. The address that redirected isn't sent to the
// next host.
func redirectPolicy(limit int) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, via []*http.Request) error {
		if len(via) > limit {
			return &Fault{ID: "request_failed", Err: fmt.Errorf("stopped after %d redirects", limit),
				Advice: "the server redirects from one URL to the next without end: a login may be missing, or the server or a proxy is set up wrongly"}
		}
		next.Header.Del("Referer")
		left := func(hop *http.Request) bool { return !SameOrigin(hop.URL, via[0].URL) }
		if left(next) || slices.ContainsFunc(via, left) {
			for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
				next.Header.Del(name)
			}
		}
		return nil
	}
}

// HasAll reports whether a response to a request without Range has all of what was asked for,
// and how long that is, -1: the server doesn't say. So has status 200, and 206 if it names no range or the whole: some
// caches answer so. Whether the body is right only its checksum tells. Many goroutines may call it.
func HasAll(resp *http.Response) (size int64, ok bool) {
	if resp.StatusCode != http.StatusPartialContent || resp.Header.Get("Content-Range") == "" {
		return resp.ContentLength, resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent
	}
	from, to, size, ok := ContentRange(resp.Header.Get("Content-Range"))
	if !ok || from != 0 || to != size-1 || resp.ContentLength >= 0 && resp.ContentLength != size {
		return -1, false
	}
	return size, true
}

// RangeOf is the header Range of a request for a part that begins at an offset; length 0: up to the end.
func RangeOf(offset, length int64) string {
	end := ""
	if length > 0 {
		end = strconv.FormatInt(offset+length-1, 10)
	}
	return fmt.Sprintf("bytes=%d-%s", offset, end)
}

// SizeIn reads how long all is from the header Content-Range of a part, such as "bytes 3-9/10", which has to begin at an offset.
func SizeIn(contentRange string, offset int64) (int64, error) {
	from, _, total, ok := ContentRange(contentRange)
	if !ok || from != offset || total < 0 {
		return 0, fmt.Errorf("the service was asked for a part from byte %d, and answered with the range %.80q", offset, contentRange)
	}
	return total, nil
}

// ContentRange reads "bytes FROM-TO/TOTAL". total is -1 for "*".
func ContentRange(value string) (from, to, total int64, ok bool) {
	span, whole, found := strings.Cut(strings.TrimPrefix(value, "bytes "), "/")
	first, last, isSpan := strings.Cut(span, "-")
	if !found || !isSpan || !strings.HasPrefix(value, "bytes ") {
		return 0, 0, 0, false
	}
	from, ok = parseCount(first)
	to, toOK := parseCount(last)
	total, totalOK := parseCount(whole)
	if whole == "*" {
		total, totalOK = -1, true
	}
	return from, to, total, ok && toOK && totalOK && from <= to && (total < 0 || to < total)
}

// parseCount reads digits and nothing else.
func parseCount(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}
