package oci_test

import (
	"bytes"
	"context"
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
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/remote"
)

// withReferrers is a registry that lists referrers, which Debian's doesn't: a fake of that one list, before the real registry.
func withReferrers(s started) http.RoundTripper {
	var mu sync.Mutex
	lists := map[string][]json.RawMessage{}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer := func(header http.Header, body string) *http.Response {
			return &http.Response{StatusCode: http.StatusOK, Request: r, Header: header, Body: io.NopCloser(strings.NewReader(body))}
		}
		if _, subject, ok := strings.Cut(r.URL.Path, "/referrers/"); ok {
			mu.Lock()
			defer mu.Unlock()
			list, err := json.Marshal(append([]json.RawMessage{}, lists[subject]...))
			return answer(http.Header{"Content-Type": {"application/vnd.oci.image.index.v1+json"}}, `{"schemaVersion": 2, "manifests": `+string(list)+`}`), err
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
	})
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

// TestPush_LosesNothing has another process publish at the worst of times: before the tag is looked at again, and
// between that and setting the tag, when this publisher overwrites what the other one has set, after that one has
// ended.
func TestPush_LosesNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	plan9 := getproviders.Platform{OS: "plan9", Arch: "arm"}
	for _, referrers := range []bool{false, true} {
		for _, method := range []string{http.MethodHead, http.MethodPut} {
			s := start(t, nil)
			shared := *s.Client
			if referrers {
				shared.Transport = withReferrers(s)
			}
			push := func(ctx context.Context, client *http.Client, t remote.Release) error {
				return (&oci.Client{HTTP: client}).Push(ctx, s.at, release("1.0.0", t))
			}
			must.Succeed(t, push(t.Context(), &shared, target(linux, "archive one")))
			others := 0
			interrupted := shared
			interrupted.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") && r.Method == method {
					if others++; others == 1 {
						if err := push(r.Context(), &shared, target(windows, "archive two")); err != nil {
							return nil, err
						}
					}
				}
				return shared.Transport.RoundTrip(r)
			})
			must.Succeed(t, push(t.Context(), &interrupted, target(plan9, "archive three")))
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

// TestPush_BringsNothingBack takes a platform out of the tag on purpose: within an hour it may have been lost by an
// accident, after that it stays away.
func TestPush_BringsNothingBack(t *testing.T) {
	t.Parallel()
	for _, referrers := range []bool{false, true} {
		s := start(t, nil)
		client := *s.Client
		if referrers {
			client.Transport = withReferrers(s)
		}
		at := time.Now()
		pusher := &oci.Client{HTTP: &client, Now: func() time.Time { return at }}
		push := func(each remote.Release) {
			t.Helper()
			must.Succeed(t, pusher.Push(t.Context(), s.at, release("1.0.0", each)))
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

// TestPush_ReplacesWhatWasRemoved takes a platform out of the tag, and publishes it again with other bytes ten minutes later.
func TestPush_ReplacesWhatWasRemoved(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		s := start(t, nil)
		at, client := time.Now(), *s.Client
		gone := ""
		client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			if gone == "" || !strings.HasSuffix(r.URL.Path, "/manifests/"+gone) {
				return s.Client.Transport.RoundTrip(r)
			}
			return &http.Response{StatusCode: http.StatusNotFound, Request: r, Body: http.NoBody}, nil
		})
		pusher := &oci.Client{HTTP: &client, Now: func() time.Time { return at }}
		push := func(each remote.Release) {
			t.Helper()
			must.Equal(t, pusher.Push(t.Context(), s.at, release("1.0.0", each)), nil, deleted)
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
			push(target(getproviders.Platform{OS: "plan9", Arch: "arm"}, "archive three"))
			must.Len(t, s.platforms(t), 2)
		}
		push(target(windows, "archive four"))
		_, content := read(t, s, "1.0.0", windows, 0)
		must.Equal(t, content, "archive four", "deleted", deleted)
	}
}

// TestPush_LooksAgainWhereItAsksTooOften: a registry that has a list of referrers, and is asked too often for it, gets
// no tags in its place, which other publishers wouldn't read.
func TestPush_LooksAgainWhereItAsksTooOften(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	referrers, refused := withReferrers(s), false
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if strings.Contains(r.URL.Path, "/referrers/") && !refused {
			refused = true
			return &http.Response{StatusCode: http.StatusTooManyRequests, Request: r, Body: http.NoBody}, nil
		}
		return referrers.RoundTrip(r)
	})}
	err := (&oci.Client{HTTP: client}).Push(t.Context(), s.at, release("1.0.0", target(linux, "archive one")))
	if got := tags(t, s); err != nil || !refused || len(got) != 1 {
		t.Errorf("refused: %t, the tags are %q, %v", refused, got, err)
	}
}

// TestPush_KeepsWhatIsSigned has a publisher without signed checksums overwrite the tag of one that has some.
func TestPush_KeepsWhatIsSigned(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	sums := fmt.Sprintf("%x  %s\n%x  %s\n", sha256.Sum256([]byte("archive one")), widget.PackedName(version("1.0.0"), linux),
		sha256.Sum256([]byte("archive two")), widget.PackedName(version("1.0.0"), windows))
	published := oci.Release{Provider: widget, Version: version("1.0.0"), Targets: []remote.Release{target(linux, "archive one")},
		Signed: &getproviders.SignedDocuments{Sums: []byte(sums), Signature: []byte("signature")}}
	others := 0
	client := *s.Client
	client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") && r.Method == http.MethodPut {
			if others++; others == 1 {
				if err := s.client.Push(r.Context(), s.at, published); err != nil {
					return nil, err
				}
			}
		}
		return s.Client.Transport.RoundTrip(r)
	})
	must.Succeed(t, (&oci.Client{HTTP: &client}).Push(t.Context(), s.at, release("1.0.0", target(windows, "archive two"))))
	if all, signed, err := s.client.Pushed(t.Context(), s.at, v1); err != nil || len(all) != 2 || !signed {
		t.Errorf("%d platforms, signed: %t, %v", len(all), signed, err)
	}
}

// TestPush_TriesAgainWhereTheRegistryFails has the tag fail to be read, as Debian's registry does while another
// publisher sets it; and for ever.
func TestPush_TriesAgainWhereTheRegistryFails(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := start(t, nil)
	for _, failing := range []int{3, 1000} {
		left := failing
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if left == 0 || !strings.HasSuffix(r.URL.Path, "/manifests/1.0.0") {
				return s.Client.Transport.RoundTrip(r)
			}
			left--
			return &http.Response{StatusCode: http.StatusInternalServerError, Request: r, Body: http.NoBody}, nil
		})}
		must.Equal(t, (&oci.Client{HTTP: client}).Push(t.Context(), s.at, release("1.0.0", target(linux, "archive one"))) == nil, failing == 3)
	}
}
