package hosts

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

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
	Attempts   int    // how often the last hop was asked; 1: no retry was made
	// Confidential reports whether every hop on the way to the document was:
	// if not, somebody else may have written it.
	Confidential bool
}

// failureBytes is how much of a body is kept that comes with a status other
// than 200: enough for an error message of the server's.
const failureBytes = 4 << 10

// GetDocument asks for a small document and reads it whole. The status is the
// caller's to judge: an error means that there was no complete answer, and
// is a *RequestError (with a *TooLargeError inside if that is the reason).
func GetDocument(ctx context.Context, client *http.Client, req DocumentRequest) (*Document, error) {
	get := (&http.Request{Method: http.MethodGet, URL: req.URL, Header: req.Header.Clone()}).WithContext(ctx)
	if get.Header == nil {
		get.Header = http.Header{}
	}
	resp, err := Do(client, get, req.MaxRedirects)
	if err != nil {
		return nil, err
	}
	doc := &Document{
		URL:        resp.Request.URL,
		Status:     strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))),
		StatusCode: resp.StatusCode,
		Header:     resp.Header,
		Attempts:   Attempts(resp),

		Confidential: confidentialWay(resp),
	}
	if resp.StatusCode == http.StatusOK {
		if doc.Body, err = ReadAll(resp, req.MaxBytes); err != nil {
			return nil, err
		}
		return doc, nil
	}
	doc.Body = readSome(resp)
	return doc, nil
}

// readSome returns the beginning of a body that nothing depends on.
func readSome(resp *http.Response) []byte {
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, failureBytes))
	return body
}
