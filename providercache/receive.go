package providercache

import (
	"context"
	"crypto/sha256"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// archive is a package archive that has been received: whole, and in a place
// that is private.
type archive struct {
	Path     string
	Size     int64
	SHA256   [sha256.Size]byte
	Streamed streamed // what was unpacked on the way; nil if nothing was
	file     *landing // open; nil in tests that have no use for it
}

// discard closes the file, which goes with the staging directory or now.
func (a archive) discard() {
	if a.file != nil {
		a.file.discard()
	}
}

// receive gets the archive and what it is judged by, both at the same time. On
// its way the archive is unpacked to dir. The caller discards the archive.
func (f *Fetcher) receive(ctx context.Context, t task, path, dir string, progress func(done, total int64)) (received archive, trust getproviders.Trust, err error) {
	gates, err := f.gates(ctx)
	if err != nil {
		return archive{}, getproviders.Trust{}, t.failed(StepFetch, err)
	}
	download := func(ctx context.Context) (err error) {
		leave, err := gates.enter(ctx, t)
		if err == nil {
			defer leave()
			received, err = f.download(ctx, t, path, dir, transfer{gates.unpacks, progress, leave})
		}
		if err != nil {
			return t.failed(StepFetch, err)
		}
		return nil
	}
	load := func(ctx context.Context) (err error) {
		trust, err = t.loadTrust(ctx)
		return err
	}
	err = par.Together(ctx, load, download)
	if err != nil && received.file != nil { // it is here, and what it is judged by isn't
		received.file.abandon(true)
	}
	return received, trust, err
}
