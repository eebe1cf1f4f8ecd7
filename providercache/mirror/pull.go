package mirror

import (
	"context"
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// errNotRecorded says that the lock file has no h1, which would name the package in the remote.
var errNotRecorded error = &getproviders.Fault{Kind: remote.ErrAbsent, Err: errors.New("the lock file has no h1 hash")}

// Pull fetches packages that lock files select and the cache doesn't have into the Cache of an Installer,
// for the Installer's platform. The Source of its Fetcher has to be a [RemoteSource], which names the
// packages. Pull tries all packages; the results are in their order, and the error joins those that failed,
// each of which names the archive. A package that the remote doesn't have is no error. Nor is an answer 403
// of a web server that, in the same call, sent another package or answered 404 for it.
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

// takeForbidden turns 403 answers of a web server into absent packages if it
// has answered for another package, because the login is valid then.
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

// naming returns the error of a package with the URL of its archive.
func naming(err error, url string) error {
	failed, ok := getproviders.Failure(err)
	if !ok || url == "" {
		return err
	}
	named := *failed
	named.Err = wrapped.About(url, failed.Err)
	for _, part := range wrapped.As[*getproviders.Fault](failed.Err) {
		if part.Code == "invalid_package" { // it isn't a mistake of the publisher
			named.Err = otherContent(url, part.Err)
		}
	}
	return &named
}
