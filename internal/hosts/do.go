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

// Do sends a request, following at most UsualRedirects redirects, and returns the response with its
// body unread. Errors match ErrRequest, and unlike those of client.Do have neither userinfo nor
// query values. Sensitive headers such as Authorization are never sent to another host than the
// first. A nil client means DefaultClient.
func Do(client *http.Client, req *http.Request) (*http.Response, error) {
	return do(client, req, redirectPolicy(UsualRedirects))
}

func do(client *http.Client, req *http.Request, policy func(*http.Request, []*http.Request) error) (*http.Response, error) {
	if client == nil {
		client = DefaultClient()
	}
	limited := *client
	made := new(int)
	limited.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		*made = 0 // for the next hop, which may never be requested
		return policy(next, via)
	}
	req = req.WithContext(context.WithValue(req.Context(), attemptsKey{}, made))
	resp, err := limited.Do(req)
	if err != nil { // the client's own errors have the complete URL of the hop that failed
		at := req.URL
		if u, ok := errors.AsType[*url.Error](err); ok {
			if hop, err := url.Parse(u.URL); err == nil {
				at = hop
			}
		}
		return nil, unanswered(req.Method, at, *made, WithoutURL(err))
	}
	if resp.Request == nil { // a caller's RoundTripper may omit it
		resp.Request = req
	}
	return resp, nil
}

// Attempts returns how often the request of a response was sent, including retries; 1 if the
// response isn't from a client of NewClient.
func Attempts(resp *http.Response) int {
	if resp == nil || resp.Request == nil {
		return 1
	}
	return attemptsOf(resp.Request.Context())
}

// ReadAll reads a body of at most limit bytes, and closes it. Errors are those of [BodyFailed];
// that of a larger body also matches ErrTooLarge.
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

// BodyFailed returns the error of a body that couldn't be read to its end. It matches ErrRequest.
func BodyFailed(resp *http.Response, err error) error {
	err = &bodyFailure{err}
	if resp.Request == nil {
		return unanswered("", nil, 1, err)
	}
	return unanswered(resp.Request.Method, resp.Request.URL, Attempts(resp), err)
}

// VersionHeader returns a header with a product's version, or an empty one if it is unknown.
func VersionHeader(version string) http.Header {
	if version == "" {
		return http.Header{}
	}
	return http.Header{"X-Terraform-Version": {version}}
}

// DocumentRequest is a request of GetDocument.
type DocumentRequest struct {
	URL          *url.URL
	Header       http.Header // in addition to the client's; may be nil
	MaxRedirects int         // how many redirects are followed; with 0 a redirect is an error
	MaxBytes     int64       // a larger 200 body is an error
}

// Document is the answer to a DocumentRequest, whatever its status.
type Document struct {
	URL        *url.URL // the body's final URL, which relative URLs in it are resolved against
	Status     string   // "503 Service Unavailable": the standard text for the code, not the server's
	StatusCode int
	Header     http.Header
	Body       []byte // of a response that isn't 200 only the first 4 KiB
	Said       string // the server's message in such a response, see SaidBy
	Attempts   int    // how often the last hop was requested; 1 without retries
}

// failureBytes is how much of a body with another status than 200 is kept: enough for the server's
// error message.
const failureBytes = 4 << 10

// GetDocument requests a small document and reads it completely. It returns any status without an
// error: an error means that there was no complete answer. It matches ErrRequest, and ErrTooLarge
// if that is the reason.
//
// An https URL isn't redirected to plain http, except on a loopback address: the error matches
// ErrPlainHTTP, and that URL isn't requested.
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

// UsualRedirects is the largest number of redirects that are followed, about as many as http.Client follows.
const UsualRedirects = 10

// AskService requests a JSON document of a host's service, with the host's credentials and a product's version. base is the
// service's URL, which the segments of the path are resolved against as a reference. 16 MiB are hundreds of times the longest
// list of versions of a module, and over ten times that of a provider. It returns the request for the errors of an answer.
func AskService(
	ctx context.Context, client *http.Client, base *url.URL, host Hostname, credentials Credentials, version string, segments ...string,
) (req DocumentRequest, doc *Document, err error) {
	at := base.ResolveReference(&url.URL{Path: strings.Join(segments, "/")})
	req = DocumentRequest{URL: at, Header: VersionHeader(version), MaxRedirects: UsualRedirects, MaxBytes: 16 << 20}
	if err = Authorize(ctx, credentials, host, at, req.Header); err == nil {
		doc, err = GetDocument(ctx, client, req)
	}
	return req, doc, err
}

// isTruncated reports whether a body broke off, which a client doesn't retry itself. A body that
// was too slow would be so again.
func isTruncated(err error) bool {
	var late interface{ Timeout() bool }
	failed, ok := errors.AsType[*bodyFailure](err)
	return ok && !errors.Is(err, ErrTooLarge) && !(errors.As(failed.error, &late) && late.Timeout()) && !errors.Is(err, context.Canceled) && !errors.Is(err, par.ErrNoRoom)
}

// bodyFailure marks errors of bodies.
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

// readSome returns the beginning of an unimportant body.
func readSome(resp *http.Response) []byte {
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, failureBytes))
	return body
}

// metadataPolicy is redirectPolicy for documents that decide which packages and modules are
// installed: confidential requests are never redirected to plain HTTP.
func metadataPolicy(limit int) func(*http.Request, []*http.Request) error {
	follow := redirectPolicy(limit)
	return func(next *http.Request, via []*http.Request) error {
		if next.URL.Scheme == "http" && Confidential(via[0].URL) && !Confidential(next.URL) {
			return fmt.Errorf("redirected to %s: %w", RedactURL(next.URL), ErrPlainHTTP)
		}
		return follow(next, via)
	}
}

// redirectPolicy follows at most limit redirects, to any host, by https and http. Credentials are
// sent only to their own origin: the standard library would also send them to subdomains and other
// ports, and to plain http. They aren't sent again after a redirect back, because another host
// chose that. The redirecting URL isn't sent to the next host.
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

// HasAll reports whether a response to a request without Range has the complete body, and its size; -1 if unknown.
// That is status 200, and 206 without a range or with the complete range, which some caches send. Only the checksum
// tells whether the body is right. Many goroutines may call it.
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

// RangeOf returns the Range header for a part that begins at an offset; length 0 means up to the end.
func RangeOf(offset, length int64) string {
	end := ""
	if length > 0 {
		end = strconv.FormatInt(offset+length-1, 10)
	}
	return fmt.Sprintf("bytes=%d-%s", offset, end)
}

// SizeIn returns the total size from the Content-Range of a part, such as "bytes 3-9/10", which must begin at offset.
func SizeIn(contentRange string, offset int64) (int64, error) {
	from, _, total, ok := ContentRange(contentRange)
	if !ok || from != offset || total < 0 {
		return 0, fmt.Errorf("the service was asked for a part from byte %d, and answered with the range %.80q", offset, contentRange)
	}
	return total, nil
}

// ContentRange parses "bytes FROM-TO/TOTAL". total is -1 for "*".
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

// parseCount parses a number that consists of digits only.
func parseCount(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}
