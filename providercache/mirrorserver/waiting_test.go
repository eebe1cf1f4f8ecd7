package mirrorserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// stalled is a source that holds back requests of one kind until it is released: for versions of a host, or for packages.
type stalled struct {
	getproviders.Source
	host   hosts.Hostname // whose versions wait; "": packages do
	asked  chan struct{}  // gets a value when something waits
	let    chan struct{}  // closed: releases them
	failed error          // what the answer is then; nil: that of Source
}

func newStalled(source getproviders.Source, host hosts.Hostname, failed error) *stalled {
	return &stalled{Source: source, host: host, asked: make(chan struct{}, 100), let: make(chan struct{}), failed: failed}
}

func (h *stalled) wait(ctx context.Context) error {
	h.asked <- struct{}{}
	select {
	case <-h.let:
		return h.failed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *stalled) Versions(ctx context.Context, p getproviders.Provider) (getproviders.Available, error) {
	if p.Hostname == h.host {
		if err := h.wait(ctx); err != nil {
			return getproviders.Available{}, err
		}
	}
	return h.Source.Versions(ctx, p)
}

func (h *stalled) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	if h.host == "" {
		if err := h.wait(ctx); err != nil {
			return getproviders.Package{}, err
		}
	}
	return h.Source.Package(ctx, p, v, plat)
}

// TestHandler_SharesFailures: those who wait for the same get the one failure, and the source isn't asked for each of them.
func TestHandler_SharesFailures(t *testing.T) {
	for name, path := range map[string]string{"a list": "/slow.example.com/acme/widget/index.json", "a package": archive} {
		t.Run(name, func(t *testing.T) {
			m := newMirroring(t)
			slow := hosts.Hostname("slow.example.com")
			if path == archive {
				slow = ""
			}
			source := newStalled(m.source(), slow, getproviders.ErrUnreachable)
			server := m.serve(source)
			var clients sync.WaitGroup
			for range 20 {
				clients.Go(func() {
					must.Equal(t, server.get(path).StatusCode, http.StatusBadGateway)
				})
			}
			<-source.asked
			await(t, func() bool { return server.stat("requests_total") >= 20 })
			close(source.let)
			clients.Wait()
			must.Len(t, source.asked, 0)
		})
	}
}

// TestHandler_NothingWaitsForASlowHost: while one host doesn't answer, others
// are asked, and known answers are served. Clients may stop waiting.
func TestHandler_NothingWaitsForASlowHost(t *testing.T) {
	m := newMirroring(t)
	source := newStalled(m.source(), "slow.example.com", nil)
	server := m.serve(source)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/slow.example.com/acme/widget/index.json", nil)
		server.ServeHTTP(httptest.NewRecorder(), r)
	}()
	<-source.asked
	server.found(dir + "index.json")
	server.found(archive)
	server.settle()
	server.found(archive)
	leave()
	<-left
	must.Fail(t, must.ErrorOf(source.Versions(ctx, getproviders.Provider{Hostname: "slow.example.com", Namespace: "acme", Type: "widget"})), context.Canceled)
	close(source.let)
}

// TestHandler_SomeLeaveWhileOthersWait: of two clients that wait for an archive, one leaves, and the other one gets it.
func TestHandler_SomeLeaveWhileOthersWait(t *testing.T) {
	m := newMirroring(t)
	server, content, feed := m.serveLarge()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, large, nil))
	}()
	got := server.asking(large)
	must.Get(feed.Write(content[:50_000]))(t)
	leave()
	<-left // before the archive is there
	must.Get(feed.Write(content[50_000:]))(t)
	feed.Close()
	must.EqualSlices(t, (<-got).body, content)
}
