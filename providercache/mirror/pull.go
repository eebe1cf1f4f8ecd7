package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// errNotRecorded says that the lock file has no h1, so that it can't be known which package of a remote is meant.
var errNotRecorded error = &getproviders.Fault{Kind: remote.ErrAbsent, Err: errors.New("the lock file has no h1 hash")}

// Pull fetches into the Cache of an Installer what lock files select and the cache doesn't have,
// for the Installer's platform. The Source of its Fetcher has to be a [RemoteSource], whose packages
// are pulled. Every package is attempted; the results are in their order, and the error
// joins those that failed, each of which names the archive. What the remote doesn't have is no
// error; nor is an answer 403 of a web server that let another package of the same call through, or
// said that it isn't there.
func Pull(ctx context.Context, in *providercache.Installer) ([]event.Outcome, error) {
	source, ok := in.Fetcher.Source.(*remoteSource)
	if !ok {
		return nil, errors.New("packages are pulled from a RemoteSource")
	}
	pulled, err := in.Prefetch(ctx, source.wanted)
	if pulled == nil {
		return nil, err
	}
	results := resultsOf(source, pulled)
	takeForbidden(results)
	var failed []error
	for _, r := range results {
		failed = append(failed, r.Err)
	}
	return results, errors.Join(failed...)
}

// takeForbidden takes for absent what a web server refuses to say, if it has answered for another
// package: the login is good then.
func takeForbidden(results []event.Outcome) {
	if !slices.ContainsFunc(results, func(r event.Outcome) bool { return r.State == event.Pulled || r.State == event.Absent }) {
		return
	}
	for i, r := range results {
		if errors.Is(r.Err, errForbidden) && r.State == event.Failed {
			results[i].State, results[i].Path, results[i].Err = event.Absent, "", nil
		}
	}
}

func resultsOf(source *remoteSource, pulled []providercache.Prefetched) (results []event.Outcome) {
	for _, p := range pulled {
		r := event.Outcome{Selection: p.Selection, Platform: p.Platform, State: event.Pulled, Bytes: p.Bytes}
		if url, ok := source.urls.Load(remote.Name{Provider: p.Provider, Version: p.Version, Platform: p.Platform}); ok { // else it was never looked for
			r.Path = url.(string)
		}
		switch {
		case p.State == event.Present:
			r.State, r.Bytes = event.Present, 0
		case errors.Is(p.Err, errNotRecorded):
			r.State, r.Path = event.NotRecorded, ""
		case errors.Is(p.Err, remote.ErrAbsent):
			r.State, r.Path = event.Absent, ""
		case p.Err != nil:
			r.State, r.Err = event.Failed, naming(p.Err, r.Path)
		}
		results = append(results, r)
	}
	return results
}

// naming has the error of a package name an archive.
func naming(err error, url string) error {
	failed, ok := getproviders.Failure(err)
	if !ok || url == "" {
		return err
	}
	named := *failed
	if named.Err = withURL(failed.Err, url); getproviders.CodeOf(failed.Err) == "invalid_package" { // it wasn't its publisher who put it there
		named.Err = otherContent(url, errors.New(strings.TrimPrefix(failed.Err.Error(), url+": ")))
	}
	return &named
}

// withURL is an error with the URL that it is about, if its text doesn't have that.
func withURL(err error, url string) error {
	if strings.Contains(err.Error(), url) {
		return err
	}
	return fmt.Errorf("%s: %w", url, err)
}
