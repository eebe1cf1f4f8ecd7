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
	r := newRegistry(t, providertest.Options{})
	addWidget(r, nil)
	r.Break("versions", providertest.Fault{Status: http.StatusServiceUnavailable, Times: 2, RetryAfter: "7"})

	resp, _ := mustGet(t, r, widgetVersions)
	must.Equal(t, resp.StatusCode, http.StatusServiceUnavailable)
	must.Equal(t, resp.Header.Get("Retry-After"), "7")
	mustGet(t, r, widgetVersions)
	if resp, _ := mustGet(t, r, widgetVersions); resp.StatusCode != http.StatusOK {
		t.Errorf("third answer: %s", resp.Status)
	}
}

func TestFault_ForOnePathLeavesOthersAlone(t *testing.T) {
	r := newRegistry(t, providertest.Options{})
	addWidget(r, nil)
	r.Add(providertest.PackageSpec{Namespace: "acme", Type: "gadget", Version: "1.0.0"})
	r.Break("versions", providertest.Fault{Path: "/widget/", Status: http.StatusForbidden})

	if resp, _ := mustGet(t, r, widgetVersions); resp.StatusCode != http.StatusForbidden {
		t.Errorf("the broken path: %s", resp.Status)
	}
	if resp, _ := mustGet(t, r, "/v1/providers/acme/gadget/versions"); resp.StatusCode != http.StatusOK {
		t.Errorf("the other path: %s", resp.Status)
	}
	r.Break("versions", providertest.Fault{})
	if resp, _ := mustGet(t, r, widgetVersions); resp.StatusCode != http.StatusOK {
		t.Errorf("after a zero Fault: %s", resp.Status)
	}
}

func TestFault_CutBodyBreaksOffForBothProtocols(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 100_000)
	r := newRegistry(t, providertest.Options{})
	addWidget(r, content)
	r.Break("archive", providertest.Fault{CutAfter: 70_000, Times: 2})

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(r.CAPEM())
	for _, http2 := range []bool{true, false} {
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2: http2,
		}}
		resp, err := client.Get("https://" + r.Host() + widgetArchive)
		must.Succeed(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil || len(body) > 70_000 {
			t.Errorf("%s: %d bytes, error %v; want a break-off after 70000", resp.Proto, len(body), err)
		}
		must.Equal(t, resp.ProtoMajor == 2, http2)
		must.Equal(t, resp.ContentLength, int64(len(content)))
		client.CloseIdleConnections()
	}
	if _, body := mustGet(t, r, widgetArchive); body != string(content) {
		t.Error("after the fault is used up, the archive is still broken")
	}
}

func TestFault_StalledBodyEndsWithTheClientsPatience(t *testing.T) {
	r := newRegistry(t, providertest.Options{})
	addWidget(r, []byte("0123456789"))
	r.Break("archive", providertest.Fault{Stall: true, CutAfter: 4})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.Host()+widgetArchive, nil))(t)
	resp := must.Get(r.Client().Do(req))(t)
	defer resp.Body.Close()
	begun := make([]byte, 4)
	if _, err := io.ReadFull(resp.Body, begun); err != nil || string(begun) != "0123" {
		t.Fatalf("the first bytes: %q, %v", begun, err)
	}
	cancel()
	must.Fail(t, must.ErrorOf(io.ReadAll(resp.Body)), context.Canceled)
}

func TestFault_CloseEndsStalledRequests(t *testing.T) {
	r := newRegistry(t, providertest.Options{})
	addWidget(r, nil)
	r.Break("archive", providertest.Fault{Stall: true})
	resp := must.Get(r.Client().Get("https://" + r.Host() + widgetArchive))(t)
	defer resp.Body.Close()
	r.Close()
	must.Refuse(io.ReadAll(resp.Body))(t, "a stalled body came to a good end")
}

func TestFault_ChangeBodyHeaderAndPlace(t *testing.T) {
	r := newRegistry(t, providertest.Options{})
	addWidget(r, []byte("original"))
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
