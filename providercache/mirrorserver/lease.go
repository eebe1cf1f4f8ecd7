package mirrorserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

const (
	// downloadLease is how long other servers wait for the download of a server that may have died; it is renewed three times as often.
	downloadLease = 10 * time.Second
	// leasePoll is how often they check whether the archive is in the bucket.
	leasePoll = 250 * time.Millisecond
)

// leaseRecord is an object that says until when one server of the bucket does something for all.
type leaseRecord struct {
	Until time.Time `json:"until"`
}

// lease takes a lease, unless another server holds it. The lease of a dead server expires. The tag is for holding.
func (s *Server) lease(ctx context.Context, key string, length time.Duration) (tag string, held bool, err error) {
	opts := blob.PutOptions{IfAbsent: true}
	content, info, err := blob.ReadAll(ctx, s.bucket, key, 1<<10)
	if err == nil {
		var record leaseRecord
		if json.Unmarshal(content, &record) == nil && s.fetcher.Now().Before(record.Until) {
			return "", false, nil
		}
		opts = blob.PutOptions{IfMatch: info.Tag}
	} else if !errors.Is(err, blob.ErrNotFound) {
		return "", false, err
	}
	tag, err = s.putLease(ctx, key, length, opts)
	if errors.Is(err, blob.ErrExists) || errors.Is(err, blob.ErrChanged) { // another server was faster
		return "", false, nil
	}
	if errors.Is(err, blob.ErrUnsupported) { // servers can't coordinate
		return "", true, nil
	}
	return tag, err == nil, err
}

func (s *Server) putLease(ctx context.Context, key string, length time.Duration, opts blob.PutOptions) (tag string, err error) {
	content, err := json.Marshal(leaseRecord{s.fetcher.Now().Add(length).UTC()})
	if err != nil {
		return "", err
	}
	info, err := s.bucket.Put(ctx, key, blob.Bytes(content), opts)
	return info.Tag, err
}

// holding calls f while it renews a lease, and then releases the lease. f goes on if the lease is lost: leases only save work.
func (s *Server) holding(ctx context.Context, key, tag string, f func(context.Context) error) error {
	renewing, done := context.WithCancel(ctx)
	var lost error
	err := par.Together(ctx,
		func(ctx context.Context) error {
			defer done()
			return f(ctx)
		},
		func(context.Context) error {
			for !errors.Is(lost, blob.ErrChanged) && par.Pause(renewing, downloadLease/3) == nil {
				var renewed string
				if renewed, lost = s.putLease(renewing, key, downloadLease, blob.PutOptions{IfMatch: tag}); lost == nil {
					tag = renewed
				}
			}
			return nil
		})
	if !errors.Is(lost, blob.ErrChanged) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTimeout)
		defer cancel()
		s.bucket.Delete(ctx, key) // if that fails, it expires
	}
	return err
}

// awaitTurn waits until this server may download an archive that isn't in the bucket. It returns the tag of the lease, or "" if the
// bucket gives none. The error is errStored if another server has stored the archive meanwhile.
func (s *Server) awaitTurn(ctx context.Context, key string, asked request, pkg packageRecord) (tag string, err error) {
	for {
		tag, held, err := s.lease(ctx, key, downloadLease)
		if err != nil {
			s.opts.Log.Warn("the bucket can't be written, so other servers may download the same", "key", key, "error", err.Error())
		}
		s.stored.forget(archivesDir(asked.provider, asked.version))
		if _, ok := pkg.find(s.storedOf(ctx, asked.provider, asked.version).value, asked.platform); ok {
			if held {
				return "", s.holding(ctx, key, tag, func(context.Context) error { return errStored })
			}
			return "", errStored
		}
		if held || err != nil {
			return tag, nil
		}
		if err := par.Pause(ctx, leasePoll); err != nil {
			return "", err
		}
	}
}

// errStored ends a flight whose archive is in the bucket already.
var errStored = errors.New("another server has stored the archive, and it is gone: ask again")

// markTimeout bounds the writing of a mark, or of an archive when the server ends, which waits for it.
const markTimeout = 10 * time.Second
