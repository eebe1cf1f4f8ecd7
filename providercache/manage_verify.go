package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// Finding says what came of reading a package.
type Finding string

const (
	Sound     Finding = "sound"      // it is what its receipt or a lock file says
	Broken    Finding = "damaged"    // it isn't what its receipt says, or can't be read, or is no provider
	NotLocked Finding = "not_locked" // a lock file selects the version, and has none of its hashes
	Unvouched Finding = "unknown"    // neither a receipt nor a lock file says what it should be
	vanished  Finding = ""           // it was removed meanwhile
)

// Verified is a package that was read.
type Verified struct {
	Cached
	Finding  Finding
	H1       getproviders.Hash   // of its files; "": it couldn't be read
	Expected []getproviders.Hash // what it should have been, if it isn't: one of these
	Err      error               // why it couldn't be read, or what it lacks; else nil
}

// Verify reads all packages, as many at once as there are cores, and compares
// them with their receipts and with what lock files record; locked may be nil.
// Those that are sound get receipts, so that the next installation needn't read
// them. The error says that the cache can't be listed, or is the cause of ctx.
func (u *Upkeep) Verify(ctx context.Context, locked Locked) ([]Verified, error) {
	packages, err := u.List()
	if err != nil {
		return nil, err
	}
	at := u.shelf()
	type reading struct {
		Verified
		read published
	}
	readings, _ := par.Map(ctx, runtime.GOMAXPROCS(0), packages, func(ctx context.Context, p Cached) (reading, error) {
		hashes, isLocked := locked.has(p)
		v, read := at.verify(ctx, p, hashes, isLocked)
		return reading{v, read}, nil
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var all []Verified
	var sound []published
	for _, r := range readings {
		if r.Finding == vanished {
			continue
		}
		all = append(all, r.Verified)
		if r.Finding == Sound && r.Condition != Complete {
			sound = append(sound, r.read)
		}
	}
	at.settle(ctx, sound...)
	return all, nil
}

// verify reads one package.
func (s shelf) verify(ctx context.Context, p Cached, hashes []getproviders.Hash, isLocked bool) (v Verified, read published) {
	v.Cached = p
	began := s.now()
	record, _ := takeRecord(p.Dir)
	record.readFrom = began
	if v.H1, v.Err = getproviders.HashDir(ctx, p.Dir); v.Err == nil {
		_, v.Err = unpack.FindExecutable(p.Dir, p.Provider)
	}
	receipt, known := s.find(p.name())
	claims := receipt.claims()
	if v.Finding, v.Expected = judgeRead(v, claims, known, hashes, isLocked); v.Finding == Broken && v.Err != nil {
		if _, err := os.Lstat(p.Dir); errors.Is(err, fs.ErrNotExist) {
			v.Finding = vanished
		}
	}
	found := genuine{H1: v.H1}
	if known && claims.H1 == v.H1 {
		found = claims
	}
	return v, published{Name: p.name(), Dir: p.Dir, Receipt: found.receipt(record)}
}

// judgeRead compares a package that was read with what is known of it.
func judgeRead(v Verified, claims genuine, known bool, hashes []getproviders.Hash, isLocked bool) (Finding, []getproviders.Hash) {
	asReceipt := known && claims.H1 == v.H1
	asLocked := slices.Contains(hashes, v.H1) || asReceipt && claims.ZH != "" && slices.Contains(hashes, claims.ZH)
	comparable := slices.ContainsFunc(hashes, func(h getproviders.Hash) bool {
		return h.Scheme() == getproviders.SchemeH1 || h.Scheme() == getproviders.SchemeZH && asReceipt && claims.ZH != ""
	})
	switch {
	case v.Err != nil:
		return Broken, nil
	case known && !asReceipt:
		return Broken, []getproviders.Hash{claims.H1}
	case isLocked && !asLocked && comparable:
		return NotLocked, hashes
	case asReceipt || asLocked:
		return Sound, nil
	default:
		return Unvouched, nil
	}
}

// Differs reports whether a package isn't what it should be.
func (v Verified) Differs() bool { return v.Finding == Broken || v.Finding == NotLocked }
