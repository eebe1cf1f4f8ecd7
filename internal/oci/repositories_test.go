package oci

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// uploads counts the blobs uploaded to a registry, and those mounted from another repository.
type uploads struct{ sent, mounted atomic.Int32 }

func (u *uploads) count(r *http.Request, refuses bool) *http.Response {
	switch {
	case r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/blobs/uploads/"):
		u.sent.Add(1)
	case r.Method == http.MethodPost && r.URL.Query().Get("mount") != "":
		if u.mounted.Add(1); refuses {
			return reply(r, http.StatusForbidden, "")
		}
	}
	return nil
}

// TestPush_TakesBlobsFromOtherRepositories publishes an archive of another repository of the registry: it isn't
// uploaded again if the registry allows mounting it.
func TestPush_TakesBlobsFromOtherRepositories(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		known, refuses bool // where it is is known from the source; the registry doesn't mount
		sent, mounted  int32
	}{"from a source": {true, false, 1, 1}, "by the same client": {false, false, 1, 1}, "refused": {true, true, 2, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, false)
			var u uploads
			counting := false
			first := &Client{HTTP: before(s.Client, func(r *http.Request) *http.Response {
				if !counting {
					return nil
				}
				return u.count(r, test.refuses)
			})}
			publish := func(client *Client, at Repository, from getproviders.Location) error {
				archive := target(linux, "archive one")
				archive.From = from
				return client.Push(t.Context(), at, release("1.0.0", archive))
			}
			must.Succeed(t, publish(first, s.at, nil))
			pkg := must.Get(s.source.Package(t.Context(), widget, v1, linux))(t)
			from := pkg.Location
			must.Contain(t, from.String(), s.at.String())
			counting = true
			second := first
			if test.known {
				second = &Client{HTTP: first.HTTP}
			} else {
				from = nil
			}
			copied := Repository{Registry: s.Host, Name: s.at.Name + "/copy"}
			must.Succeed(t, publish(second, copied, from))
			if u.sent.Load() != test.sent || u.mounted.Load() != test.mounted { // one is the empty configuration
				t.Errorf("%d blobs were sent and %d mounted, want %d and %d", u.sent.Load(), u.mounted.Load(), test.sent, test.mounted)
			}
			s.source.Repository = func(getproviders.Provider) (Repository, error) { return copied, nil }
			_, content := read(t, s, "1.0.0", linux, 0)
			must.Equal(t, content, "archive one")
		})
	}
}

// creating is a registry such as ECR, in which repositories must be created first: a fake of that, before a real
// registry.
type creating struct {
	mu      sync.Mutex
	created map[Repository]int
}

func (c *creating) create(_ context.Context, r Repository) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.HasSuffix(r.Name, "/forbidden") {
		return errors.New("AccessDenied")
	}
	c.created[r]++
	return nil
}

func (c *creating) answer(r *http.Request) *http.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := range c.created {
		if strings.HasPrefix(r.URL.Path, "/v2/"+at.Name+"/") {
			return nil
		}
	}
	return reply(r, http.StatusNotFound, unknown)
}

// TestPush_CreatesRepositories publishes several versions concurrently to a registry that doesn't create repositories by
// itself.
func TestPush_CreatesRepositories(t *testing.T) {
	t.Parallel()
	s := start(t, false)
	ecr := &creating{created: map[Repository]int{}}
	client := before(s.Client, ecr.answer)
	s.client.HTTP, s.client.CreateRepository = client, ecr.create
	_, errs := par.Map(t.Context(), 4, []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0"}, func(ctx context.Context, v string) (struct{}, error) {
		return struct{}{}, s.client.Push(ctx, s.at, release(v, target(linux, "archive "+v)))
	})
	must.Succeed(t, errors.Join(errs...))
	_, content := read(t, s, "1.3.0", linux, 0)
	must.Equal(t, content, "archive 1.3.0")
	must.Equal(t, ecr.created[s.at], 1)
	ecr.mu.Lock()
	ecr.created = map[Repository]int{}
	ecr.mu.Unlock()
	other := &Client{HTTP: client, CreateRepository: func(ctx context.Context, r Repository) error {
		if err := ecr.create(ctx, r); err != nil { // another process
			return err
		}
		return errors.New("RepositoryAlreadyExistsException")
	}}
	must.Succeed(t, other.Push(t.Context(), s.at, release("1.4.0", target(linux, "archive"))))
	at := Repository{Registry: s.Host, Name: "providers/forbidden"}
	err := s.client.Push(t.Context(), at, release("1.0.0", target(linux, "archive")))
	must.Contain(t, err, "there is no repository "+at.String())
	must.Contain(t, err, "creating it failed: AccessDenied")
}

// TestPush_NamesTheRepositoryToBeCreated needs no real registry, as no repository is created.
func TestPush_NamesTheRepositoryToBeCreated(t *testing.T) {
	client := &Client{HTTP: &http.Client{Transport: storagetest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		return reply(r, http.StatusNotFound, unknown), nil
	})}}
	at := Repository{Registry: "r.example", Name: "team/widget"}
	err := client.Push(t.Context(), at, release("1.0.0", target(linux, "archive")))
	must.Contain(t, err, "there is no repository "+at.String())
	must.Contain(t, err, "create team/widget there first")
}
