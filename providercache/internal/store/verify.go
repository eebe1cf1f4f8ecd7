package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// Finding is the result of verifying or comparing a package.
type Finding string

// The findings of Verify, and of Compare.
const (
	OK         Finding = "sound"         // its hash is what its receipt or a lock file records
	NotLocked  Finding = "not_locked"    // Verify: the lock file has none of its hashes; Compare: no entry for it, or for another version
	Corrupt    Finding = "damaged"       // Verify: it differs from its receipt, or can't be read, or is no provider
	Unknown    Finding = "unknown"       // Verify: neither a receipt nor a lock file says what it should be
	Missing    Finding = "missing"       // Compare: the lock file selects it, but the directory doesn't have it
	Dangling   Finding = "dangling_link" // Compare: its path is a symbolic link to nothing
	Differs    Finding = "differs"       // Compare: the lock file has hashes of the right kind, but none is that of this package
	Unproven   Finding = "unproven"      // Compare: the lock file has no hash that a package in this form can have; an unpacked one has no zh
	Unreadable Finding = "unreadable"    // Compare: it can't be hashed
	vanished   Finding = ""              // it was removed meanwhile
)

// Verified is a package that was read.
type Verified struct {
	Package
	Finding  Finding
	H1       getproviders.Hash   // of its files; "": it couldn't be read
	Expected []getproviders.Hash // one of these, if the package has another hash
	Err      error               // why it can't be read, or what it lacks; else nil
}

// Verify reads all packages, as many at once as there are cores, and compares them with their receipts and with
// wanted, the packages of lock files, which may be nil. Undamaged packages get receipts, so that the next
// installation needn't read them. The error says that the cache can't be listed, or is the cause of ctx.
func (u *Maintenance) Verify(ctx context.Context, wanted []getproviders.PackageSpec) ([]Verified, error) {
	packages, err := u.List()
	if err != nil {
		return nil, err
	}
	at, locked := u.view(), lockedBy(wanted)
	type reading struct {
		Verified
		read receipt.Pending
	}
	readings, _ := readEach(ctx, u.Emit, packages, func(ctx context.Context, p Package, progress func(int64)) (reading, error) {
		hashes, isLocked := locked.has(p)
		v, read := at.verify(ctx, p, hashes, isLocked, progress)
		return reading{v, read}, nil
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var all []Verified
	var sound []receipt.Pending
	for _, r := range readings {
		if r.Finding == vanished {
			continue
		}
		all = append(all, r.Verified)
		if r.Finding == OK && r.Condition != ConditionComplete {
			sound = append(sound, r.read)
		}
	}
	at.Record(ctx, sound...)
	return all, nil
}

// readEach reads packages, as many at once as there are cores, and
// emits events. read has to call its last argument after each read.
func readEach[R any](ctx context.Context, emit func(context.Context, event.Event), packages []Package, read func(context.Context, Package, func(bytes int64)) (R, error)) ([]R, []error) {
	bytes := map[string]int64{}
	for _, p := range packages {
		bytes[p.Dir] = p.Size
	}
	emit(ctx, event.Event{Kind: event.Queued, Sizes: bytes})
	return par.Map(ctx, runtime.GOMAXPROCS(0), packages, func(ctx context.Context, p Package) (R, error) {
		o := event.Outcome{Selection: getproviders.Selection{Provider: p.Provider, Version: p.Version}, Platform: p.Platform, Path: p.Dir}
		emit(ctx, event.Event{Kind: event.Hashing, Outcome: o})
		defer emit(ctx, event.Event{Kind: event.Hashed, Outcome: o})
		return read(ctx, p, o.Count(func(e event.Event) { emit(ctx, e) }))
	})
}

// verify reads one package; progress is called after each read.
func (s View) verify(ctx context.Context, p Package, hashes []getproviders.Hash, isLocked bool, progress func(bytes int64)) (v Verified, read receipt.Pending) {
	v.Package = p
	began := s.now()
	record, _ := receipt.TakeRecord(p.Dir)
	record.ReadFrom = began
	if v.H1, v.Err = treehash.DirProgress(ctx, p.Dir, progress); v.Err == nil {
		_, v.Err = unpack.FindExecutable(p.Dir, p.Provider)
	}
	made, known := s.Find(p.Name())
	claims := made.Claims()
	if v.Finding, v.Expected = findingOf(v, claims, known, hashes, isLocked); v.Finding == Corrupt && v.Err != nil {
		if _, err := os.Lstat(p.Dir); errors.Is(err, fs.ErrNotExist) {
			v.Finding = vanished
		}
	}
	found := receipt.Provenance{H1: v.H1}
	if known && claims.H1 == v.H1 {
		found = claims
	}
	return v, receipt.Pending{Name: p.Name(), Dir: p.Dir, Receipt: found.Receipt(record)}
}

// findingOf compares a package that was read with its receipt and its lock entries.
func findingOf(v Verified, claims receipt.Provenance, known bool, hashes []getproviders.Hash, isLocked bool) (Finding, []getproviders.Hash) {
	asReceipt := known && claims.H1 == v.H1
	asLocked := slices.Contains(hashes, v.H1) || asReceipt && claims.ZH != "" && slices.Contains(hashes, claims.ZH)
	comparable := slices.ContainsFunc(hashes, func(h getproviders.Hash) bool {
		return h.Scheme() == hashing.H1 || h.Scheme() == hashing.ZH && asReceipt && claims.ZH != ""
	})
	switch {
	case v.Err != nil:
		return Corrupt, nil
	case known && !asReceipt:
		return Corrupt, []getproviders.Hash{claims.H1}
	case isLocked && !asLocked && comparable:
		return NotLocked, hashes
	case asReceipt || asLocked:
		return OK, nil
	default:
		return Unknown, nil
	}
}

// Differs reports whether a package differs from its receipt or the lock file.
func (v Verified) Differs() bool { return v.Finding == Corrupt || v.Finding == NotLocked }
