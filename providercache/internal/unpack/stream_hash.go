package unpack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/par"
)

// HashFile is Hash for a file, with the default Limits. read, if it isn't nil, is called with the number of bytes of each read.
func HashFile(ctx context.Context, path string, read func(bytes int64)) (content Content, zh getproviders.Hash, err error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is neither a package archive nor a directory", path)
	}
	if err != nil {
		return content, "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return content, "", err
	}
	defer file.Close()
	content, zh, err = Hash(ctx, file, io.TeeReader(file, chunks.Counting(read)), par.NewLimit(1), info.Size(), getproviders.Provider{}, DefaultLimits())
	if err != nil {
		return Content{}, zh, fmt.Errorf("hashing the package %s: %w", path, err)
	}
	return content, zh, nil
}

// Hash hashes an archive of a provider, where the zero Provider means any, and the files in it. It needs one pass, over reading, if the
// archive can be read from its beginning; otherwise it reads file again. It holds one of the slots for unpacking. The zh is returned even
// if the archive breaks the rules for packages.
func Hash(ctx context.Context, file *os.File, reading io.Reader, slots *par.Limit, size int64, p getproviders.Provider, limits Limits) (content Content, zh getproviders.Hash, err error) {
	found, err := HashStream(ctx, reading, slots, size, limits)
	if err == nil {
		content, err = found.Content(p, limits)
	}
	if err == nil {
		return content, getproviders.ZH(found.SHA256), nil
	}
	leave, err := slots.Acquire(ctx, size)
	if err != nil {
		return content, "", err
	}
	defer leave()
	// A second pass, by the archive's directory, finds out what is wrong.
	sum, size, err := chunks.SHA256(ctx, io.NewSectionReader(file, 0, math.MaxInt64))
	if err != nil {
		return content, "", err
	}
	whole, err := Open(file, size, p, limits)
	if err == nil {
		content, err = whole.Unpack(ctx, "")
	}
	return content, getproviders.ZH(sum), err
}

// streamHash hashes an archive while it is read: it writes nothing to a disk, and keeps only the
// directory in memory. Archives that can't be read from their beginning can't be hashed this way.
type streamHash struct {
	source io.Reader
	sum    hash.Hash
	size   int64
	limit  int64
	slot   *Slot
	ctx    context.Context
	broken error // the source's error, other than io.EOF
}

// ReadAt implements io.ReaderAt for a TailReader, which reads in order.
func (p *streamHash) ReadAt(buffer []byte, _ int64) (int, error) {
	p.slot.release() // another archive may be unpacked while this one waits for the network
	n, err := p.source.Read(buffer)
	if wait := p.slot.acquire(p.ctx); wait != nil {
		p.broken = wait
		return 0, wait
	}
	p.sum.Write(buffer[:n])
	if p.size += int64(n); p.size > p.limit {
		err = ErrNotStreamable
	}
	if err != nil && err != io.EOF && err != ErrNotStreamable {
		p.broken = err
	}
	return n, err
}

// HashedStream is an archive that was hashed while it was read.
type HashedStream struct {
	Size     int64
	SHA256   [sha256.Size]byte
	streamed Streamed
	index    *zipIndex
}

// HashStream reads an archive from its beginning to its end, while it holds one of the slots for unpacking. The error is
// ErrNotStreamable if the archive can't be read this way, else the source's own; Size is then the number of bytes read.
func HashStream(ctx context.Context, from io.Reader, slots *par.Limit, weight int64, limits Limits) (HashedStream, error) {
	p := &streamHash{source: from, sum: sha256.New(), limit: limits.Bytes, ctx: ctx, slot: &Slot{gate: slots, weight: weight}}
	if err := p.slot.acquire(ctx); err != nil {
		return HashedStream{}, err
	}
	defer p.slot.release()
	index := &zipIndex{heads: map[int64][localHeader]byte{}}
	found, err := newStreamer(&TailReader{ctx: ctx, file: p, there: math.MaxInt64, slot: p.slot}, limits).entries(ctx, index)
	switch {
	case p.broken != nil:
		return HashedStream{Size: p.size}, p.broken
	case err != nil:
		return HashedStream{}, ErrNotStreamable
	}
	return HashedStream{p.size, [sha256.Size]byte(p.sum.Sum(nil)), found, index}, nil
}

// Content returns the hashes of the archive's files. The error is ErrNotStreamable if its directory lists other entries than those that were read.
func (p HashedStream) Content(provider getproviders.Provider, limits Limits) (Content, error) {
	entries, _, err := readEntries(p.index, p.Size, provider, limits)
	if err != nil || !p.streamed.agrees(entries) {
		return Content{}, ErrNotStreamable
	}
	return p.streamed.finish(entries, "")
}

// zipIndex is the part of a hashed archive that is kept: the headers of its entries, as far as they say where data
// begins, and everything from its directory on. The rest reads as zeros, which no zip reader takes for a record.
type zipIndex struct {
	heads map[int64][localHeader]byte
	tail  []byte
	from  int64 // where the tail begins
}

// addHead keeps a header; it does nothing if r is nil.
func (r *zipIndex) addHead(at, data int64, name int) error {
	if r == nil {
		return nil
	}
	extra := data - at - localHeader - int64(name)
	if extra < 0 || extra > math.MaxUint16 {
		return ErrNotStreamable
	}
	var head [localHeader]byte
	binary.LittleEndian.PutUint32(head[:], localSignature)
	binary.LittleEndian.PutUint16(head[26:], uint16(name))
	binary.LittleEndian.PutUint16(head[28:], uint16(extra))
	r.heads[at] = head
	return nil
}

// readTail keeps the rest of the archive, of which the streamer has read the first four bytes; it does nothing if r is nil.
func (r *zipIndex) readTail(s *streamer, from int64) error {
	if r == nil {
		return nil
	}
	most := directoryTail + int64(s.tree.max)*directoryEntry
	rest, err := io.ReadAll(io.LimitReader(s.in, most+1))
	if err != nil {
		return err
	}
	if int64(len(rest)) > most {
		return fmt.Errorf("%w: its directory is too large", ErrNotStreamable)
	}
	r.from = from
	r.tail = append(binary.LittleEndian.AppendUint32(nil, directorySignature), rest...)
	return nil
}

// ReadAt implements io.ReaderAt.
func (r *zipIndex) ReadAt(p []byte, at int64) (int, error) {
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
