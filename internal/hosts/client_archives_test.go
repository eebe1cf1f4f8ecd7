package hosts

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestArchives_HaveConnectionsOfTheirOwn asks for two archives that redirect, one
// of which is still being received when the other one is asked for.
func TestArchives_HaveConnectionsOfTheirOwn(t *testing.T) {
	var seen recorder
	srv := startTLS(t, func(w http.ResponseWriter, req *http.Request) {
		seen.add(req.Proto + " " + req.RemoteAddr)
		if req.URL.Path == "/redirect" {
			http.Redirect(w, req, "/archive", http.StatusFound)
			return
		}
		_, _ = w.Write(make([]byte, 64<<10)) // more than is read along with the header
	})
	client := clientFor(t, srv, ClientOptions{})
	var open []*http.Response
	for range 2 {
		req := get(t, srv.URL+"/redirect")
		resp := must.Get(client.Do(req.WithContext(WithOwnConnection(req.Context()))))(t)
		must.Equal(t, resp.ProtoMajor, 1, resp.Proto)
		open = append(open, resp)
	}
	for _, resp := range open {
		resp.Body.Close()
	}
	if all := seen.list; len(all) != 4 || all[0] != all[1] || all[2] != all[3] || all[0] == all[2] {
		t.Errorf("two archives, each redirected, were asked for by %q; want a connection for each", all)
	}
	seen.reset()
	resp := closed(t)(client.Do(get(t, srv.URL+"/document")))
	must.Equal(t, resp.ProtoMajor, 2, resp.Proto)
}

// TestArchives_ComeFromServersWithoutHTTP1 has a server that ends the handshake with clients that
// don't offer HTTP/2.
func TestArchives_ComeFromServersWithoutHTTP1(t *testing.T) {
	srv := startTLS(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "archive")
	}, func(srv *httptest.Server) {
		srv.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			strict := &tls.Config{Certificates: srv.TLS.Certificates, NextProtos: []string{"h2"}}
			if !slices.Contains(hello.SupportedProtos, "h2") {
				strict.NextProtos = []string{"none"}
			}
			return strict, nil
		}}
	})
	req := get(t, srv.URL)
	resp := must.Get(clientFor(t, srv, ClientOptions{}).Do(req.WithContext(WithOwnConnection(req.Context()))))(t)
	body, err := ReadAll(resp, 100)
	if string(body) != "archive" || err != nil || resp.ProtoMajor != 2 {
		t.Errorf("got %q by %s, %v", body, resp.Proto, err)
	}
}

func TestClient_IdleConnectionsOfArchivesCanBeClosed(t *testing.T) {
	var mu sync.Mutex
	gone := make(chan struct{})
	open := 0
	srv := startTLS(t, http.NotFound, func(srv *httptest.Server) {
		srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			mu.Lock()
			defer mu.Unlock()
			switch state {
			case http.StateNew:
				open++
			case http.StateClosed:
				if open--; open == 0 {
					close(gone)
				}
			}
		}
	})
	client := clientFor(t, srv, ClientOptions{})
	shared := get(t, srv.URL)
	for _, req := range []*http.Request{shared, shared.WithContext(WithOwnConnection(t.Context()))} {
		resp := must.Get(client.Do(req))(t)
		must.Get(ReadAll(resp, 100))(t)
	}
	client.CloseIdleConnections()
	<-gone
}
