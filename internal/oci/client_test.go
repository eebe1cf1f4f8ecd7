package oci

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestExplained_HasNoQueries has errors that were wrapped before, so that their text is fixed.
func TestExplained_HasNoQueries(t *testing.T) {
	t.Parallel()
	const signed = "https://blobs.example/x/y?signature=secret1&b=secret2"
	failed := &url.Error{Op: "Get", URL: signed, Err: errors.New("connection reset")}
	at := must.Get(url.Parse(signed))(t)
	answer := &errcode.ErrorResponse{Method: http.MethodGet, URL: at, StatusCode: http.StatusForbidden}
	for _, err := range []error{failed, fmt.Errorf("reading: %w", failed), answer, fmt.Errorf("reading %s: %w", signed, answer), fmt.Errorf("reading %q", signed)} {
		before := err.Error()
		text := explained(err).Error()
		must.NotContain(t, text, "secret", before)
		must.Contain(t, text, "https://blobs.example/x/y", before)
		must.Fail(t, explained(err), err)
		must.Equal(t, err.Error(), before)
	}
	if failed.URL != signed || answer.URL != at {
		t.Errorf("the errors were changed to %v and %v", failed, answer)
	}
	must.Fail(t, explained(answer), hosts.ErrUnauthorized)
	must.Succeed(t, explained(nil))
}
