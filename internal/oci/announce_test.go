package oci

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// withReferrers is a registry with the list of referrers, which Debian's doesn't have: a fake of that list, before the real
// registry.
func withReferrers(s started) *http.Client {
	var mu sync.Mutex
	lists := map[string][]json.RawMessage{}
	return &http.Client{Transport: storagetest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if _, subject, ok := strings.Cut(r.URL.Path, "/referrers/"); ok {
			mu.Lock()
			defer mu.Unlock()
			list, err := json.Marshal(append([]json.RawMessage{}, lists[subject]...))
			answer := reply(r, http.StatusOK, `{"schemaVersion": 2, "manifests": `+string(list)+`}`)
			answer.Header.Set("Content-Type", "application/vnd.oci.image.index.v1+json")
			return answer, err
		}
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/manifests/") {
			return s.Client.Transport.RoundTrip(r)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := s.Client.Transport.RoundTrip(r)
		var pushed struct {
			MediaType, ArtifactType string
			Annotations             map[string]string
			Subject                 *struct{ Digest string }
		}
		if json.Unmarshal(body, &pushed) == nil && pushed.Subject != nil && err == nil && resp.StatusCode == http.StatusCreated {
			described, err := json.Marshal(map[string]any{"mediaType": pushed.MediaType, "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(body)), "size": len(body),
				"artifactType": pushed.ArtifactType, "annotations": pushed.Annotations})
			if err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			lists[pushed.Subject.Digest] = append(lists[pushed.Subject.Digest], described)
			resp.Header.Set("Oci-Subject", pushed.Subject.Digest)
		}
		return resp, err
	})}
}

// tags are all tags of the repository.
func tags(t *testing.T, s started) (all []string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.Host+"/v2/"+s.at.Name+"/tags/list", nil))(t)
	resp := must.Get(s.Client.Do(req))(t)
	defer resp.Body.Close()
	var list struct{ Tags []string }
	must.Succeed(t, json.NewDecoder(resp.Body).Decode(&list))
	return list.Tags
}

// TestPush_LosesNothing lets another process publish at the worst times: before the tag is read again, and
// between that and setting the tag, so that this publisher overwrites the other one's tag after that one has
// ended.
func TestPush_LosesNothing(t *testing.T) {
	t.Parallel()
	for _, referrers := range []bool{false, true} {
		for _, method := range []string{http.MethodHead, http.MethodPut} {
			s := start(t, false)
			shared := s.Client
			if referrers {
				shared = withReferrers(s)
			}
			push := func(client *http.Client, each remote.Release) error {
				return (&Client{HTTP: client}).Push(t.Context(), s.at, release("1.0.0", each))
			}
			must.Succeed(t, push(shared, target(linux, "archive one")))
			others := 0
			interrupted := before(shared, func(r *http.Request) *http.Response {
				if strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") && r.Method == method {
					if others++; others == 1 {
						must.Equal(t, push(shared, target(windows, "archive two")), nil)
					}
				}
				return nil
			})
			must.Succeed(t, push(interrupted, target(plan9, "archive three")))
			all, err := s.source.Describe(widget).Platforms(t.Context(), widget, v1)
			if err != nil || len(all) != 3 || others < 1 {
				t.Errorf("referrers: %t, published at %s: %v, %v, after %d tries", referrers, method, all, err, others)
			}
			if got := tags(t, s); slices.ContainsFunc(got, func(tag string) bool { return strings.HasPrefix(tag, "tfdeps-adding.1.0.0.") }) == referrers {
				t.Errorf("referrers: %t: the tags are %q", referrers, got)
			}
		}
	}
}

// TestPush_BringsNothingBack removes a platform from the tag on purpose: within an hour it may have been lost by
// accident, after that it stays removed.
func TestPush_BringsNothingBack(t *testing.T) {
	t.Parallel()
	for _, referrers := range []bool{false, true} {
		s := start(t, false)
		client := s.Client
		if referrers {
			client = withReferrers(s)
		}
		at := time.Now()
		pusher := &Client{HTTP: client}
		push := func(each remote.Release) {
			t.Helper()
			must.Succeed(t, pusher.push(t.Context(), s.at, release("1.0.0", each), func() time.Time { return at }))
		}
		push(target(linux, "archive one"))
		before := s.tagged(t, http.MethodGet, nil)
		push(target(windows, "archive two"))
		for i, wait := range []time.Duration{50 * time.Minute, 70 * time.Minute} {
			s.tagged(t, http.MethodPut, before)
			at = at.Add(wait)
			push(target(getproviders.Platform{OS: "plan9", Arch: fmt.Sprintf("arm%d", i)}, "archive three"))
			must.Equal(t, slices.Contains(s.platforms(t), windows), (i == 0), referrers, wait)
		}
	}
}

// TestPush_ReplacesWhatWasRemoved removes a platform from the tag, and publishes it again with other bytes ten minutes later.
func TestPush_ReplacesWhatWasRemoved(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		s := start(t, false)
		at, gone := time.Now(), ""
		client := before(s.Client, func(r *http.Request) *http.Response {
			if gone == "" || !strings.HasSuffix(r.URL.Path, "/manifests/"+gone) {
				return nil
			}
			return reply(r, http.StatusNotFound, "")
		})
		pusher := &Client{HTTP: client}
		push := func(each remote.Release) {
			t.Helper()
			must.Equal(t, pusher.push(t.Context(), s.at, release("1.0.0", each), func() time.Time { return at }), nil, deleted)
		}
		push(target(linux, "archive one"))
		before := s.tagged(t, http.MethodGet, nil)
		push(target(windows, "archive two"))
		if deleted {
			var index struct{ Manifests []struct{ Digest string } }
			if err := json.Unmarshal(s.tagged(t, http.MethodGet, nil), &index); err != nil || len(index.Manifests) != 2 {
				t.Fatalf("%d manifests, %v", len(index.Manifests), err)
			}
			gone = index.Manifests[1].Digest
		}
		s.tagged(t, http.MethodPut, before)
		at = at.Add(10 * time.Minute)
		if deleted { // what is gone doesn't come back with another platform
			push(target(plan9, "archive three"))
			must.Len(t, s.platforms(t), 2)
		}
		push(target(windows, "archive four"))
		_, content := read(t, s, "1.0.0", windows, 0)
		must.Equal(t, content, "archive four", "deleted", deleted)
	}
}

// TestPush_LooksAgainWhereItAsksTooOften: if a registry with a list of referrers answers 429 to it, the publisher
// doesn't set tags instead, which other publishers wouldn't read.
func TestPush_LooksAgainWhereItAsksTooOften(t *testing.T) {
	t.Parallel()
	s := start(t, false)
	refused := false
	client := before(withReferrers(s), func(r *http.Request) *http.Response {
		if refused || !strings.Contains(r.URL.Path, "/referrers/") {
			return nil
		}
		refused = true
		return reply(r, http.StatusTooManyRequests, "")
	})
	err := (&Client{HTTP: client}).Push(t.Context(), s.at, release("1.0.0", target(linux, "archive one")))
	if got := tags(t, s); err != nil || !refused || len(got) != 1 {
		t.Errorf("refused: %t, the tags are %q, %v", refused, got, err)
	}
}

// TestPush_KeepsWhatIsSigned lets a publisher without signed checksums overwrite the tag of one with them.
func TestPush_KeepsWhatIsSigned(t *testing.T) {
	t.Parallel()
	s := start(t, false)
	published := release("1.0.0", target(linux, "archive one"))
	published.Signed = signedBy(newSigner(), v1, map[getproviders.Platform]string{linux: "archive one", windows: "archive two"})
	others := 0
	client := before(s.Client, func(r *http.Request) *http.Response {
		if strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") && r.Method == http.MethodPut {
			if others++; others == 1 {
				must.Equal(t, s.client.Push(r.Context(), s.at, published), nil)
			}
		}
		return nil
	})
	must.Succeed(t, (&Client{HTTP: client}).Push(t.Context(), s.at, release("1.0.0", target(windows, "archive two"))))
	if all, signed, err := s.client.Pushed(t.Context(), s.at, v1); err != nil || len(all) != 2 || !signed {
		t.Errorf("%d platforms, signed: %t, %v", len(all), signed, err)
	}
}

// TestPush_TriesAgainWhereTheRegistryFails lets reading the tag fail, as Debian's registry does while another
// publisher sets it; and for ever.
func TestPush_TriesAgainWhereTheRegistryFails(t *testing.T) {
	t.Parallel()
	s := start(t, false)
	for _, failing := range []int{3, 1000} {
		left := failing
		client := before(s.Client, func(r *http.Request) *http.Response {
			if left == 0 || !strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") {
				return nil
			}
			left--
			return reply(r, http.StatusInternalServerError, "")
		})
		must.Equal(t, (&Client{HTTP: client}).Push(t.Context(), s.at, release("1.0.0", target(linux, "archive one"))) == nil, failing == 3)
	}
}
