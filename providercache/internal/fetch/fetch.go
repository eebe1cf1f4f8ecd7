package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"sync"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// Describe asks the source where a package is, and sets the Package of the request. All that fetch packages ask for those of a
// whole run before they request the first archive: if one can't be had, nothing is downloaded in vain. It is a short request;
// the documents that authenticate the package are loaded with its archive.
func (f *Fetcher) Describe(ctx context.Context, t *Request, plat getproviders.Platform) error {
	described, err := f.Source.Package(f.Resolver().Proposing(ctx), t.Provider, t.Version, plat)
	if err != nil {
		return t.Failed(during.Metadata, err)
	}

	t.Package = described
	return nil
}

// Fetch downloads, verifies and unpacks the package into the stage.
func (f *Fetcher) Fetch(ctx context.Context, t Request, stage *staging.Stage) (receipt.Provenance, error) {
	switch at := t.Package.Location.(type) {
	case getproviders.LocalDirectory:
		return f.fetchDirectory(ctx, t, string(at), stage)
	case getproviders.LocalArchive, getproviders.HTTPArchive, getproviders.Archive:
		return f.FetchArchive(ctx, t, stage.ArchivePath(), stage.PackagePath())
	default:
		return receipt.Provenance{}, t.Failed(during.Fetch, fmt.Errorf("can't fetch from a location of type %T", at))
	}
}

// FetchArchive downloads an archive to path and unpacks it to dir, or only hashes its files if dir is "". If path is "" too,
// the archive is hashed while it arrives and never written; the error is unpack.ErrNotStreamable if that is impossible. An
// archive in ArchiveDir isn't downloaded. Only for packages of this module: the result has an internal type.
func (f *Fetcher) FetchArchive(ctx context.Context, t Request, path, dir string) (receipt.Provenance, error) {
	got, ok, err := f.fromKept(ctx, t, path, dir)
	if !ok {
		got, err = f.downloadAndUnpack(ctx, t, path, dir)
	}
	if err != nil {
		return got, err
	}
	return got, f.Approve(ctx, t, getproviders.StateFetched, got)
}

// downloadAndUnpack is FetchArchive from the request's location. It loads the documents that authenticate the archive at the same time.
func (f *Fetcher) downloadAndUnpack(ctx context.Context, t Request, path, dir string) (got receipt.Provenance, err error) {
	var trust getproviders.Trust
	var received download.Archive
	var streamed unpack.Streamed
	var content unpack.Content
	err = par.Together(ctx, func(ctx context.Context) (err error) {
		trust, err = f.loadTrust(ctx, t)
		return err
	}, func(ctx context.Context) (err error) {
		received, streamed, content, err = f.download(ctx, t, path, dir)
		return err
	})
	if err != nil { // the archive may be complete although the documents can't be loaded
		f.keptPart(ctx, t)(received.Keep())
		return got, err
	}
	defer func() {
		if err != nil && ctx.Err() != nil { // an interrupted run needn't download it again
			f.keptPart(ctx, t)(received.Keep())
			return
		}
		received.Discard()
	}()
	digests := getproviders.Digests{SHA256: received.SHA256, H1: content.H1, H1Archive: content.H1Archive}
	authentication, err := t.Authenticate(trust.Authenticator, digests)
	undecided := errors.Is(err, errH1Required)
	if err != nil && !undecided {
		return got, inPlaceOfArchive(t, received, err)
	}
	if path != "" {
		if content, err = f.unpack(ctx, t, received, streamed, dir); err != nil {
			return got, inPlaceOfArchive(t, received, err)
		}
	}
	if undecided {
		digests.H1, digests.H1Archive = content.H1, content.H1Archive
		if authentication, err = t.Authenticate(trust.Authenticator, digests); err != nil {
			return got, err
		}
	}
	f.keep(ctx, t, received.Path)
	return f.dated(ctx, receipt.Provenance{
		Authentication: authentication, H1: content.H1, H1Archive: content.OtherH1(),
		ZH: getproviders.ZH(received.SHA256), Origin: t.origin(), FromRegistry: t.Package.FromRegistry, ArchiveBytes: received.Size, RegistryHashes: t.OtherRegistryHashes(trust),
		Files: content.Files,
	}, received.Modified), nil
}

// inPlaceOfArchive returns the package's error, or a better one if the server sent a web page.
func inPlaceOfArchive(t Request, received download.Archive, err error) error {
	failed, ok := getproviders.Failure(err)
	if !ok || !download.IsRemote(t.Package.Location) || !received.IsWebPage() {
		return err
	}
	url := t.Package.Location.String()
	page := &getproviders.Fault{
		Code: "invalid_answer", Subject: getproviders.Subject{URL: url},
		Err:  fmt.Errorf("the server sent a web page in place of the archive: GET %q", url),
		Hint: "a proxy or a login page may answer in place of the server: open the URL in a browser to see the page, and check HTTPS_PROXY and the login that the server wants",
	}
	if errors.Is(failed.Err, getproviders.ErrAuthentication) {
		page.Kind = getproviders.ErrAuthentication
	}
	explained := *failed
	explained.Err = page
	return &explained
}

// download downloads the archive, and unpacks it to dir while it arrives; streamed is nil if that is impossible. Without
// a path, it hashes the files instead, and returns their hashes as content. The caller discards the archive.
func (f *Fetcher) download(ctx context.Context, t Request, path, dir string) (received download.Archive, streamed unpack.Streamed, content unpack.Content, err error) {
	leave, err := f.Enter(ctx, &t)
	if err != nil {
		return received, nil, content, t.Failed(during.Fetch, err)
	}
	defer leave()
	request := f.downloadRequest(t, path)
	request.Progress, request.Kept = f.progress(ctx, t), f.keptPart(ctx, t)
	if path == "" {
		var stream unpack.HashedStream
		request.Hash = func(ctx context.Context, from io.Reader, total int64) (size int64, sum [32]byte, err error) {
			stream, err = unpack.HashStream(ctx, from, f.unpacks, total, f.Limits.Package)
			return stream.Size, stream.SHA256, err
		}
		if received, err = download.Download(ctx, request); err == nil {
			content, err = stream.Content(t.Provider, f.Limits.Package)
		}
		if err != nil && !errors.Is(err, unpack.ErrNotStreamable) {
			err = t.Failed(during.Fetch, err)
		}
		return received, nil, content, err
	}
	phase := event.Unpacking
	if dir == "" {
		phase = event.Verifying
	}
	remote := download.IsRemote(t.Package.Location)
	if !remote {
		f.EmitPhase(ctx, t.Outcome(), phase)
	}
	request.Restart = func() error {
		if dir == "" {
			return nil
		}
		return patient.RemoveAll(dir)
	}
	request.Follow = func(ctx context.Context, file io.ReaderAt, mark *par.Mark, size int64) {
		if t.Follow != nil {
			t.Follow(mark, size)
		}
		streamed = unpack.Stream(unpack.NewTailReader(ctx, file, mark, f.unpacks, size), dir, f.Limits.Package)
	}
	request.Received = func() {
		if leave(); remote {
			f.EmitPhase(ctx, t.Outcome(), phase)
		}
	}
	if received, err = download.Download(ctx, request); err != nil {
		err = t.Failed(during.Fetch, err)
	}
	return received, streamed, content, err
}

// progress returns a function that reports the progress of a download as
// events; nil without an observer, or if the package is on this machine.
func (f *Fetcher) progress(ctx context.Context, t Request) func(done, total int64) {
	if !download.IsRemote(t.Package.Location) || f.Observe == nil {
		return nil
	}
	return func(done, total int64) {
		f.Emit(ctx, event.Event{Kind: event.Progress, Outcome: t.Outcome(), Done: done, Total: total})
	}
}

// keptPart returns a function that reports how many bytes of a download are kept for a later run; 0 isn't reported.
func (f *Fetcher) keptPart(ctx context.Context, t Request) func(bytes int64) {
	return func(bytes int64) {
		if bytes > 0 {
			f.Emit(ctx, event.Event{Kind: event.Kept, Outcome: t.Outcome(), Done: bytes})
		}
	}
}

// downloadRequest returns the request for a package's archive, to be written to path. If its URL has
// expired, as signed URLs do within minutes, the source is asked again for the location. Only the
// URL is taken from the new answer: the archive still has to match the first one.
func (f *Fetcher) downloadRequest(t Request, path string) (r download.Request) {
	r.Expected, r.Known = t.Expected()
	r.Location, r.Client, r.Limit, r.Path, r.PartialDir, r.Now, r.Admit = t.Package.Location, f.Client, f.Limits.Package.Bytes, path, t.Partials, f.Now, t.Admit
	r.Relocate = func(ctx context.Context) (getproviders.Location, error) {
		again, err := f.askAgain(ctx, t)
		return again.Location, err
	}
	return r
}

// unpack completes the files that were unpacked while the archive arrived, or unpacks the whole archive.
func (f *Fetcher) unpack(ctx context.Context, t Request, from download.Archive, streamed unpack.Streamed, dir string) (content unpack.Content, err error) {
	whole, err := unpack.Open(from.File, from.Size, t.Provider, f.Limits.Package)
	if err != nil {
		return content, t.Failed(during.Unpack, err)
	}
	content, ok, err := whole.Finish(streamed, dir)
	if !ok {
		var leave func()
		if leave, err = f.unpacks.Acquire(ctx, from.Size); err == nil {
			defer leave()
			content, err = whole.Unpack(ctx, dir)
		}
	}
	if err != nil {
		err = t.Failed(during.Unpack, err)
	}
	return content, err
}

// Hash hashes an archive on this machine, which has to be a package of the provider, when
// a core is free. Only for packages of this module: content has an internal type.
func (f *Fetcher) Hash(ctx context.Context, file *os.File, size int64, p getproviders.Provider) (unpack.Content, getproviders.Hash, error) {
	return unpack.Hash(ctx, file, file, f.unpacks, size, p, f.Limits.Package)
}

// Enter waits until an archive may be downloaded; fetching t then doesn't wait again. It waits for the
// host's limit first, so that downloads that queue for a slow host don't hold up the others.
func (f *Fetcher) Enter(ctx context.Context, t *Request) (leave func(), err error) {
	if t.entered {
		return func() {}, nil
	}
	t.entered = true
	limits, leaves := []*par.Limit{f.downloads}, []func(){}
	leave = sync.OnceFunc(func() {
		for _, release := range slices.Backward(leaves) {
			release()
		}
	})
	if at := t.Package.Location; download.IsRemote(at) {
		host := at.String()
		if u, err := url.Parse(host); err == nil {
			host = u.Host
		}
		ofHost, _ := f.hosts.Join(host, func() *par.Limit { return par.NewLimit(f.Limits.PerHost) })
		limits, leaves = []*par.Limit{ofHost.Value, f.downloads}, append(leaves, func() { f.hosts.Leave(host, ofHost) })
	}
	for _, limit := range limits {
		release, err := limit.Acquire(ctx, 0)
		if err != nil {
			leave()
			return nil, err
		}
		leaves = append(leaves, release)
	}
	return leave, nil
}
