package mirrorserver

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

const (
	// usesPrefix is the prefix of the marks that archives were used: uses/HOUR/KEY, empty
	// objects. Servers can write them independently, and no mark is ever changed.
	usesPrefix = "uses/"

	// marksKnown is how many archives a server remembers to have marked.
	marksKnown = 10_000

	// usedLately is how long after its use an archive isn't removed, because a server that has just looked it up may still open it.
	usedLately = 2 * time.Hour
)

// CollectOptions say what Collect keeps.
type CollectOptions struct {
	// MaxBytes is how much all archives together may take; 0: any number. MaxUnused is how long an archive may go
	// unused; 0: for ever. Archives that Keep names, or that were used within the last two hours, stay in any case.
	MaxBytes  int64
	MaxUnused time.Duration
	// DryRun only reports what would be removed.
	DryRun bool
	// Every skips the call if any server of the bucket has collected with Every within about that time; 0: never skip.
	Every time.Duration
	// Keep reports whether an archive stays regardless of its size and last use; hashes are its h1 and zh. nil: no archive does.
	Keep func(p getproviders.Provider, v getproviders.Version, hashes []getproviders.Hash) bool
}

// Collect removes archives from the bucket, least recently used first, until the rest satisfies MaxBytes and MaxUnused. It
// doesn't remove archives that this server is sending, or that any server of the bucket has sent within the last two hours.
// Several servers may collect at the same time: with Every, one of them does. A removed archive is downloaded again when it
// is requested. Collect returns the removed and the remaining archives. The errors are the bucket's.
func (s *Server) Collect(ctx context.Context, o CollectOptions) (removed, left []StoredPackage, err error) {
	if o.Every > 0 {
		if _, held, err := s.lease(ctx, "serve/collect.lease", o.Every*9/10); err != nil || !held {
			return nil, nil, err
		}
	}
	uses, err := s.lastUses(ctx, o.DryRun)
	if err != nil {
		return nil, nil, err
	}
	held, err := s.heldArchives(ctx, uses)
	if err != nil {
		return nil, nil, err
	}
	size := int64(0)
	for _, a := range held {
		size += a.Bytes
	}
	slices.SortFunc(held, func(a, b storedArchive) int { return cmp.Or(a.Used.Compare(b.Used), strings.Compare(a.Key, b.Key)) })
	now := s.fetcher.Now()
	for _, a := range held {
		tooMuch, unused := o.MaxBytes > 0 && size > o.MaxBytes, o.MaxUnused > 0 && now.Sub(a.Used) > o.MaxUnused
		if !tooMuch && !unused || now.Sub(a.Used) < usedLately || s.serving.Has(a.Key) || o.Keep != nil && o.Keep(a.Provider, a.Version, []getproviders.Hash{a.H1, a.ZH}) {
			left = append(left, a.StoredPackage)
			continue
		}
		if !o.DryRun {
			if err := s.remove(ctx, a, uses); err != nil {
				return removed, left, err
			}
		}
		size -= a.Bytes
		removed = append(removed, a.StoredPackage)
	}
	return removed, left, nil
}

// remove removes an archive and its mark.
func (s *Server) remove(ctx context.Context, a storedArchive, uses map[string]time.Time) error {
	if used, ok := uses[a.Key]; ok { // before the archive, because later calls find marks only of archives that are there
		if err := s.bucket.Delete(ctx, markKey(hourOf(used)-1, a.Key)); err != nil {
			return err
		}
	}
	if err := s.bucket.Delete(ctx, a.Key); err != nil {
		return err
	}
	s.stored.forget(archivesDir(a.Provider, a.Version))
	s.counts.removed.Add(1)
	s.counts.removedSize.Add(a.Bytes)
	return nil
}

// markUse notes in the bucket that an archive is used in this hour. If that fails, the archive counts as unused.
func (s *Server) markUse(ctx context.Context, key string) {
	hour := hourOf(s.fetcher.Now())
	if known, ok := s.marked.Get(key); !s.opts.MarkUses || ok && known >= hour {
		return
	}
	s.marked.Put(key, hour, 1)
	s.tasks.Begin(ctx, func(ctx context.Context) { // no client waits for it
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTimeout) // a server that ends right after a use would lose the mark
		defer cancel()
		if err := buckets.PutOnce(ctx, s.bucket, markKey(hour, key), blob.Bytes(nil), blob.PutOptions{}); err != nil {
			s.marked.Forget(key) // the next use tries again
			s.notStored("archive", key, err)
		}
	})
}

// lastUses returns for each archive the end of the hour of its last use. Unless it is a dry run, it removes older marks.
func (s *Server) lastUses(ctx context.Context, dryRun bool) (map[string]time.Time, error) {
	last, before := map[string]int64{}, []string{}
	for info, err := range s.bucket.List(ctx, usesPrefix) {
		if err != nil {
			return nil, err
		}
		text, key, _ := strings.Cut(strings.TrimPrefix(info.Key, usesPrefix), "/")
		hour, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			continue
		}
		known, ok := last[key]
		last[key] = max(known, hour)
		if ok {
			before = append(before, markKey(min(known, hour), key))
		}
	}
	for _, key := range before {
		if dryRun {
			break
		}
		if err := s.bucket.Delete(ctx, key); err != nil {
			return nil, err
		}
	}
	uses := make(map[string]time.Time, len(last))
	for key, hour := range last {
		uses[key] = time.Unix((hour+1)*3600, 0)
	}
	return uses, nil
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

func markKey(hour int64, key string) string {
	return usesPrefix + strconv.FormatInt(hour, 10) + "/" + key
}
