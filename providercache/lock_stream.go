package providercache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// passing is an archive that is hashed while it passes by, and kept nowhere: no
// byte is written to a disk, and memory holds no more than its directory. An
// archive that can't be read from its beginning isn't done this way.
type passing struct {
	source source
	sum    hash.Hash
	size   int64
	limit  int64
	place  *place
	ctx    context.Context
	broken error // of the source, other than its end
}

// ReadAt implements io.ReaderAt for a follower, who reads what comes next.
func (p *passing) ReadAt(buffer []byte, _ int64) (int, error) {
	p.place.give() // another one may unpack while the network is waited for
	n, err := p.source.Read(buffer)
	if wait := p.place.take(p.ctx); wait != nil {
		p.broken = wait
		return 0, wait
	}
	p.sum.Write(buffer[:n])
	if p.size += int64(n); p.size > p.limit {
		err = errOdd
	}
	if err != nil && err != io.EOF && err != errOdd {
		p.broken = err
	}
	return n, err
}

// hashPassing hashes an archive and its files while it is received. It returns
// errOdd if that can't be done on the way.
func (f *Fetcher) hashPassing(ctx context.Context, t task) (archive, unpacked, error) {
	gates, err := f.gates(ctx)
	if err != nil {
		return archive{}, unpacked{}, err
	}
	leave, err := gates.enter(ctx, t)
	if err != nil {
		return archive{}, unpacked{}, err
	}
	defer leave()
	from, err := f.openPassing(ctx, t)
	if err != nil {
		return archive{}, unpacked{}, err
	}
	defer from.Close()
	for {
		received, content, err := f.pass(ctx, t, from, gates.unpacks)
		if !errors.Is(err, errStartOver) {
			return received, content, err
		}
	}
}

func (f *Fetcher) openPassing(ctx context.Context, t task) (source, error) {
	if at, ok := t.Package.Location.(getproviders.HTTPArchive); ok {
		_, sure := t.expected()
		w, err := openWeb(ctx, f.client(), at, 0, sure)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
	return openFile(t.Package.Location.String())
}

// pass reads a source to its end.
func (f *Fetcher) pass(ctx context.Context, t task, from source, unpacks *par.Limit) (archive, unpacked, error) {
	limits := f.Limits.withDefaults()
	total := from.length()
	if total > limits.PackageBytes {
		return archive{}, unpacked{}, errOdd // it is refused where archives are
	}
	p := &passing{source: from, sum: sha256.New(), limit: limits.PackageBytes, ctx: ctx, place: &place{gate: unpacks, weight: total}}
	if err := p.place.take(ctx); err != nil {
		return archive{}, unpacked{}, err
	}
	defer p.place.give()
	found, kept, err := p.read(limits)
	switch {
	case p.broken != nil:
		return archive{}, unpacked{}, p.failed(t, total)
	case err != nil:
		return archive{}, unpacked{}, errOdd
	case total >= 0 && p.size != total:
		return archive{}, unpacked{}, incomplete(t.Package.Location.String(), p.size, total, io.ErrUnexpectedEOF)
	}
	received := archive{Size: p.size, SHA256: [sha256.Size]byte(p.sum.Sum(nil)), Streamed: found}
	if sum, known := t.expected(); known && sum != received.SHA256 {
		if w, ok := from.(*web); ok {
			if err := w.renew(); err != nil {
				return archive{}, unpacked{}, err
			}
		}
	}
	entries, err := readEntries(kept, p.size, t.Provider, limits)
	if err != nil || !found.agrees(entries) {
		return archive{}, unpacked{}, errOdd
	}
	content, err := found.finish(entries, "")
	return received, content, err
}

// failed says how far the archive came.
func (p *passing) failed(t task, total int64) error {
	_, told := errors.AsType[*TransferError](p.broken)
	if told || errors.Is(p.broken, errStartOver) || p.ctx.Err() != nil {
		return p.broken
	}
	return incomplete(t.Package.Location.String(), p.size, total, p.broken)
}

// read unpacks all entries to nowhere, and keeps what the directory is compared
// with. The error is nobody's.
func (p *passing) read(limits Limits) (streamed, *remains, error) {
	from := &follower{ctx: p.ctx, file: p, there: math.MaxInt64, place: p.place}
	s := newStreamer(from, limits)
	found, kept := streamed{}, &remains{heads: map[int64][localHeader]byte{}}
	for {
		begins := s.offset()
		header, err := s.next()
		if err != nil {
			return nil, nil, err
		}
		if header == nil {
			return found, kept, kept.readTail(s, begins, limits)
		}
		data := s.offset()
		if err := kept.addHead(begins, data, len(header.Name)); err != nil {
			return nil, nil, err
		}
		if found[data], err = s.unpack(p.ctx, header); err != nil {
			return nil, nil, err
		}
	}
}

// remains is what is left of an archive that has passed: the headers of its
// entries, as far as they say where data begins, and everything from its
// directory on. Between them, it reads as zeros, in which nothing can be found.
type remains struct {
	heads map[int64][localHeader]byte
	tail  []byte
	from  int64 // where the tail begins
}

// addHead keeps a header.
func (r *remains) addHead(at, data int64, name int) error {
	extra := data - at - localHeader - int64(name)
	if extra < 0 || extra > math.MaxUint16 {
		return errOdd
	}
	var head [localHeader]byte
	binary.LittleEndian.PutUint32(head[:], localSignature)
	binary.LittleEndian.PutUint16(head[26:], uint16(name))
	binary.LittleEndian.PutUint16(head[28:], uint16(extra))
	r.heads[at] = head
	return nil
}

// readTail keeps the rest of the archive, of which the streamer has read the
// first four bytes.
func (r *remains) readTail(s *streamer, from int64, limits Limits) error {
	most := directoryTail + int64(limits.PackageFiles)*directoryEntry
	rest, err := io.ReadAll(io.LimitReader(s.in, most+1))
	if err != nil {
		return err
	}
	if int64(len(rest)) > most {
		return fmt.Errorf("%w: its directory is too large", errOdd)
	}
	r.from = from
	r.tail = append(binary.LittleEndian.AppendUint32(nil, directorySignature), rest...)
	return nil
}

// ReadAt implements io.ReaderAt.
func (r *remains) ReadAt(p []byte, at int64) (int, error) {
	if head, ok := r.heads[at]; ok && len(p) <= localHeader {
		return copy(p, head[:]), nil
	}
	clear(p)
	if missing := r.from - at; missing > 0 {
		n := min(missing, int64(len(p)))
		m, err := bytes.NewReader(r.tail).ReadAt(p[n:], 0)
		return int(n) + m, err
	}
	return bytes.NewReader(r.tail).ReadAt(p, at-r.from)
}
