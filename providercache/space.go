package providercache

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"sync/atomic"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// room compares the packages of one installation with the free disk space. A package takes at least as much as its
// archive, so archives that are larger than the free space can't all be installed. Sizes come from files and
// receipts, or from the servers when they begin to send. Only unpacking shows whether the unpacked files fit.
type room struct {
	dirs    []string
	free    int64
	claimed *atomic.Int64 // of free; nil: the free space isn't known
}

// findRoom returns the free space where packages go. Packages that are only symlinked from the
// cache take space there, all others in Target; if the cache is full, they go to Target alone.
func (in *Installer) findRoom(into []*Store) room {
	r := room{dirs: []string{in.Target.Dir}}
	if into[0] == in.Cache && in.linkModes()[0] == link.Symlink {
		r.dirs = []string{in.Cache.Dir, in.Target.Dir}
	}
	free, known := disk.Room(r.dirs...)
	if known {
		r.free, r.claimed = free, new(atomic.Int64)
	}
	return r
}

// claim takes bytes of the free space, or returns the error of shortageOf.
func (r room) claim(bytes int64) error {
	if r.claimed == nil || bytes <= 0 {
		return nil
	}
	if claimed := r.claimed.Add(bytes); claimed > r.free {
		return shortageOf(nil, &disk.RoomError{Dirs: r.dirs, Need: claimed, Free: r.free})
	}
	return nil
}

// reserve claims room for the archives whose sizes are known, and sets each
// step's Admit, which claims the rest when a server announces the size.
func (in *Installer) reserve(ctx context.Context, r room, tasks steps) error {
	var refused error
	for _, t := range tasks {
		if t.unpacked() {
			continue
		}
		known := t.bytes
		refused = cmp.Or(refused, r.claim(known))
		t.Admit = func(total int64) error {
			more := total - known
			known = max(known, total)
			return r.claim(more)
		}
	}
	if ctx.Err() != nil {
		return nil // each package fails with the error of ctx
	}
	return refused
}

// measure looks up the sizes of archives in files and receipts: bytes for the same package, and about
// also for other versions of the provider, because the size changes little between versions.
func (in *Installer) measure(tasks steps) {
	recorded := []store.View{in.targetView(), in.cacheView()}
	for _, s := range tasks {
		switch at := s.Package.Location.(type) {
		case getproviders.LocalArchive:
			if info, err := os.Stat(string(at)); err == nil {
				s.bytes, s.about = info.Size(), info.Size()
			}
		case getproviders.HTTPArchive, getproviders.Archive:
			for _, at := range recorded {
				s.about = cmp.Or(at.LastSize(in.packageName(s.Selection)), s.about)
				for _, known := range at.KnownPackages(s.Provider, s.Package.Platform) {
					if known.Version == s.Version && known.SourceURL == s.Package.SourceURL && known.SourceURL != "" {
						s.bytes = known.ArchiveBytes
					}
				}
			}
			s.about = cmp.Or(s.about, math.MaxInt64)
		}
	}
}

// endAll checks the error of a download. The first package that finds the disk full ends all downloads by stop,
// with its error as the cause. Each download that it ended returns this error, too, unless ctx has ended.
func endAll(ctx, downloads context.Context, stop context.CancelCauseFunc, t fetch.Request, err error) error {
	if full, ok := errors.AsType[*disk.RoomError](err); ok {
		stop(shortageOf(nil, full))
	}
	full := context.Cause(downloads)
	if _, ok := errors.AsType[*disk.RoomError](full); ok && err != nil && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, getproviders.ErrNoSpace)) {
		return t.Failed(during.Fetch, full)
	}
	return err
}

// sharedFailures gives all steps that found the disk full one shared error, which names all of their providers.
func sharedFailures(tasks steps) {
	var full []getproviders.Provider
	var cause *disk.RoomError
	for _, s := range tasks {
		if one, ok := errors.AsType[*disk.RoomError](s.outcome.Err); ok {
			full = append(full, s.Provider)
			if cause == nil || one.Need > cause.Need {
				cause = one
			}
		}
	}
	if cause == nil {
		return
	}
	shared := shortageOf(full, cause)
	for _, s := range tasks {
		if _, ok := errors.AsType[*disk.RoomError](s.outcome.Err); ok {
			s.outcome.Err = s.outcome.Failed(during.Fetch, shared)
		}
	}
}

// shortageOf returns the one error for all providers that found the disk full. It matches ErrNoSpace.
func shortageOf(full []getproviders.Provider, cause *disk.RoomError) *getproviders.Fault {
	return &getproviders.Fault{Code: "no_space", Kind: getproviders.ErrNoSpace, Subject: getproviders.Subject{Providers: full}, Err: cause,
		Hint: "make room there, or put the packages on another disk"}
}
