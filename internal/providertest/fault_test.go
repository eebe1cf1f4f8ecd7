package providertest_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func TestFault_StatusFaultStrikesAsOftenAsItSays(t *testing.T) {
	r := withWidget(t, nil)
	r.Break("versions", providertest.Fault{Status: http.StatusServiceUnavailable, Times: 2, RetryAfter: "7"})

	resp, _ := mustGet(t, r, widgetVersions)
	must.Equal(t, resp.StatusCode, http.StatusServiceUnavailable)
	must.Equal(t, resp.Header.Get("Retry-After"), "7")
	wantStatus(t, r, widgetVersions, http.StatusServiceUnavailable)
	wantStatus(t, r, widgetVersions, http.StatusOK)
}

func TestFault_ForOnePathLeavesOthersAlone(t *testing.T) {
	r := withWidget(t, nil)
	r.Add(providertest.PackageSpec{Namespace: "acme", Type: "gadget", Version: "1.0.0"})
	r.Break("versions", providertest.Fault{Path: "/widget/", Status: http.StatusForbidden})

	wantStatus(t, r, widgetVersions, http.StatusForbidden)
	wantStatus(t, r, "/v1/providers/acme/gadget/versions", http.StatusOK)
	r.Break("versions", providertest.Fault{})
	wantStatus(t, r, widgetVersions, http.StatusOK)
}

func TestFault_CutBodyBreaksOffForBothProtocols(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 100_000)
	r := withWidget(t, content)
	r.Break("archive", providertest.Fault{CutAfter: 70_000, Times: 2})

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(r.CAPEM())
	for _, http2 := range []bool{true, false} {
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2: http2,
		}}
		resp := must.Get(client.Get(r.BaseURL() + widgetArchive))(t)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil || len(body) > 70_000 {
			t.Errorf("%s: %d bytes, error %v; want a break-off after 70000", resp.Proto, len(body), err)
		}
		must.Equal(t, resp.ProtoMajor == 2, http2)
		must.Equal(t, resp.ContentLength, int64(len(content)))
		client.CloseIdleConnections()
	}
	_, body := mustGet(t, r, widgetArchive)
	must.Equal(t, body == string(content), true, "after the fault is used up")
}

func TestFault_StalledBodyEndsWithTheClientsPatience(t *testing.T) {
	r := withWidget(t, []byte("0123456789"))
	r.Break("archive", providertest.Fault{Stall: true, CutAfter: 4})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, r.BaseURL()+widgetArchive, nil))(t)
	resp := must.Get(r.Client().Do(req))(t)
	defer resp.Body.Close()
	begun := make([]byte, 4)
	must.Get(io.ReadFull(resp.Body, begun))(t)
	must.Equal(t, string(begun), "0123")
	cancel()
	must.Fail(t, must.ErrorOf(io.ReadAll(resp.Body)), context.Canceled)
}

func TestFault_CloseEndsStalledRequests(t *testing.T) {
	r := withWidget(t, nil)
	r.Break("archive", providertest.Fault{Stall: true})
	resp := must.Get(r.Client().Get(r.BaseURL() + widgetArchive))(t)
	defer resp.Body.Close()
	r.Close()
	must.Refuse(io.ReadAll(resp.Body))(t, "a stalled body came to a good end")
}

func TestFault_ChangeBodyHeaderAndPlace(t *testing.T) {
	r := withWidget(t, []byte("original"))
	r.Break("archive", providertest.Fault{
		Body:   func(b []byte) []byte { return append(b, "-not"...) },
		Header: http.Header{"Content-Type": {"text/html"}, "Etag": nil},
	})
	resp, body := mustGet(t, r, widgetArchive)
	if body != "original-not" || resp.Header.Get("Content-Type") != "text/html" || resp.Header.Get("Etag") != "" {
		t.Errorf("got %q with %v", body, resp.Header)
	}

	r.Break("sums", providertest.Fault{Redirect: widgetArchive})
	if resp, body := mustGet(t, r, widgetSums); body != "original-not" || resp.Request.URL.Path != widgetArchive {
		t.Errorf("redirected to %s: %q", resp.Request.URL, body)
	}
}
