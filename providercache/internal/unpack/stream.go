package unpack

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack/inflate"
)

// ErrNotStreamable ends unpacking an archive while it arrives. It is never reported: the complete
// archive is unpacked again by its directory, and that reports what is wrong with it.
var ErrNotStreamable = errors.New("this archive can only be read from its end")

const (
	localSignature      = 0x04034b50 // before each entry
	directorySignature  = 0x02014b50 // before each entry of the directory
	descriptorSignature = 0x08074b50 // after an entry, and may be left out

	flagDescriptor = 1 << 3 // sizes and checksum come after the data
	flagUTF8       = 1 << 11
	flagsDeflate   = 1<<1 | 1<<2 // how hard the compressor tried
)

// Streamed has the entries of an archive that was unpacked while it arrived, by the offset of their data, as the
// headers before them and the data describe them. It counts only if the archive's directory lists the same.
type Streamed map[int64]streamedEntry

type streamedEntry struct {
	entry
	Sum [sha256.Size]byte
}

// streamer unpacks an archive from its beginning to its directory. Entries must have no gap between them, so that
// nothing can hide there. It uses package inflate, but complete archives are decompressed by another package: a
// mistake of inflate would show as a wrong checksum, and the archive would then be unpacked with the other one.
type streamer struct {
	source   *TailReader
	in       *bufio.Reader
	into     *os.Root // nil: only hash
	tree     names
	written  int64 // bytes of all entries
	limit    int64 // of written
	inflater *inflate.Decoder
}

// newStreamer returns a streamer that only hashes.
func newStreamer(source *TailReader, limits Limits) *streamer {
	return &streamer{
		source:   source,
		in:       bufio.NewReaderSize(source, chunks.Size),
		tree:     names{max: limits.Files},
		limit:    limits.Bytes,
		inflater: inflate.New(),
	}
}

// Stream unpacks an archive to dir while it is downloaded, or only hashes
// its files if dir is "". It returns nil if that is impossible.
func Stream(source *TailReader, dir string, limits Limits) Streamed {
	if source.slot.acquire(source.ctx) != nil {
		return nil
	}
	defer source.slot.release()
	s := newStreamer(source, limits)
	if dir != "" {
		root, err := makeRoot(dir)
		if err != nil {
			return nil
		}
		defer root.Close()
		s.into = root
	}
	found, _ := s.entries(source.ctx, nil)
	return found
}

// entries unpacks all entries. index records what the directory is
// compared with; nil if the archive itself will be there for that.
func (s *streamer) entries(ctx context.Context, index *zipIndex) (Streamed, error) {
	found := Streamed{}
	for {
		begins := s.offset()
		header, err := s.next()
		data := s.offset()
		switch {
		case err != nil:
		case header == nil:
			return found, index.readTail(s, begins)
		default:
			err = index.addHead(begins, data, len(header.Name))
		}
		if err == nil {
			found[data], err = s.unpack(ctx, header)
		}
		if err != nil {
			return nil, err
		}
	}
}

// offset is the offset in the archive of the next byte.
func (s *streamer) offset() int64 { return s.source.pos - int64(s.in.Buffered()) }

// next reads the header of the next entry, or returns nil if the directory comes next.
func (s *streamer) next() (*zip.FileHeader, error) {
	var fixed [localHeader]byte
	if _, err := io.ReadFull(s.in, fixed[:4]); err != nil {
		return nil, err
	}
	switch binary.LittleEndian.Uint32(fixed[:]) {
	case localSignature:
	case directorySignature:
		return nil, nil
	default:
		return nil, ErrNotStreamable
	}
	if _, err := io.ReadFull(s.in, fixed[4:]); err != nil {
		return nil, err
	}
	header, length, further := parseLocalHeader(fixed)
	if length > maxName {
		return nil, ErrNotStreamable
	}
	name := make([]byte, length)
	if _, err := io.ReadFull(s.in, name); err != nil {
		return nil, err
	}
	_, err := s.in.Discard(further)
	header.Name = string(name)
	return &header, err
}

// parseLocalHeader reads the header before an entry's data. It also returns how many bytes of name and further fields follow it.
func parseLocalHeader(fixed [localHeader]byte) (header zip.FileHeader, name, further int) {
	short := func(at int) uint16 { return binary.LittleEndian.Uint16(fixed[at:]) }
	long := func(at int) uint32 { return binary.LittleEndian.Uint32(fixed[at:]) }
	return zip.FileHeader{
		Flags: short(6), Method: short(8), CRC32: long(14), CompressedSize64: uint64(long(18)), UncompressedSize64: uint64(long(22)),
	}, int(short(26)), int(short(28))
}

// unpack unpacks one entry, and replaces the values of its header by what it found.
func (s *streamer) unpack(ctx context.Context, header *zip.FileHeader) (e streamedEntry, err error) {
	file := &zip.File{FileHeader: *header}
	name, err := cleanName(file)
	if err != nil || header.Flags&^(flagDescriptor|flagUTF8|flagsDeflate) != 0 {
		return e, ErrNotStreamable
	}
	e = streamedEntry{entry: entry{File: file, Name: name, Dir: strings.HasSuffix(header.Name, "/")}}
	if err := s.tree.add(e.entry); err != nil {
		return e, err
	}
	if e.Dir {
		e.Sum = sha256.Sum256(nil)
		if header.CompressedSize64 != 0 || header.Flags&flagDescriptor != 0 {
			return e, ErrNotStreamable
		}
		return e, e.mkdir(s.into)
	}
	return e, s.unpackFile(ctx, &e)
}

func (s *streamer) unpackFile(ctx context.Context, e *streamedEntry) error {
	said, start := e.File.FileHeader, s.offset()
	crc := crc32.NewIEEE()
	size, sum, err := e.write(s.into, func(w io.Writer) (int64, error) {
		guarded := &guard{streamer: s, ctx: ctx, next: io.MultiWriter(crc, w)}
		err := s.inflate(guarded, said)
		return guarded.size, err
	})
	if err != nil {
		return err
	}
	e.Sum = sum
	e.File.CRC32 = crc.Sum32()
	e.File.CompressedSize64, e.File.UncompressedSize64 = uint64(s.offset()-start), uint64(size)
	if said.Flags&flagDescriptor != 0 {
		if said.CRC32, said.CompressedSize64, said.UncompressedSize64, err = s.descriptor(); err != nil {
			return err
		}
	}
	if said.CRC32 != e.File.CRC32 || said.CompressedSize64 != e.File.CompressedSize64 || said.UncompressedSize64 != e.File.UncompressedSize64 {
		return ErrNotStreamable
	}
	return nil
}

// inflate writes the content of an entry. Stored data doesn't mark its end, so its size has to be known before.
func (s *streamer) inflate(w io.Writer, header zip.FileHeader) error {
	switch {
	case header.Method == zip.Deflate:
		return s.inflater.Copy(w, s.in)
	case header.Method == zip.Store && header.Flags&flagDescriptor == 0:
		_, err := io.CopyN(w, s.in, int64(header.CompressedSize64))
		return err
	default:
		return ErrNotStreamable
	}
}

// guard stops writing when the output becomes too large, in total or relative to
// the part of the archive that was read, and when the context has ended.
type guard struct {
	*streamer
	ctx  context.Context
	next io.Writer
	size int64 // of this entry
}

// Write implements io.Writer.
func (g *guard) Write(p []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, context.Cause(g.ctx)
	}
	g.size += int64(len(p))
	g.written += int64(len(p))
	if g.written > g.limit || g.written > ratioFrom && g.written/maxRatio > g.offset() {
		return 0, ErrNotStreamable
	}
	return g.next.Write(p)
}

// descriptor reads the data descriptor after an entry whose header doesn't have its sizes.
func (s *streamer) descriptor() (crc uint32, compressed, size uint64, err error) {
	var fields [12]byte
	if _, err = io.ReadFull(s.in, fields[:4]); err != nil {
		return 0, 0, 0, err
	}
	rest := fields[4:]
	if binary.LittleEndian.Uint32(fields[:]) == descriptorSignature {
		rest = fields[:]
	}
	_, err = io.ReadFull(s.in, rest)
	return binary.LittleEndian.Uint32(fields[0:]), uint64(binary.LittleEndian.Uint32(fields[4:])),
		uint64(binary.LittleEndian.Uint32(fields[8:])), err
}

// agrees reports whether the archive's directory lists exactly the entries that were unpacked.
func (s Streamed) agrees(entries []entry) bool {
	if s == nil || len(s) != len(entries) {
		return false
	}
	for _, listed := range entries {
		at, err := listed.File.DataOffset()
		found, ok := s[at]
		if err != nil || !ok || found.Dir != listed.Dir || !sameHeader(found.File.FileHeader, listed.File.FileHeader) {
			return false
		}
	}
	return true
}

func sameHeader(a, b zip.FileHeader) bool {
	const compared = flagDescriptor | flagUTF8 | encrypted
	return a.Name == b.Name && a.Method == b.Method && (a.Flags^b.Flags)&compared == 0 && a.CRC32 == b.CRC32 &&
		a.CompressedSize64 == b.CompressedSize64 && a.UncompressedSize64 == b.UncompressedSize64
}

// finish sets the modes of the files, which only the directory has.
func (s Streamed) finish(entries []entry, dir string) (Content, error) {
	if dir == "" {
		return digest(entries, s.sum)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Content{}, err
	}
	defer root.Close()
	return digest(entries, func(e entry) ([sha256.Size]byte, error) {
		if !e.Dir {
			if err := root.Chmod(e.Name, e.File.Mode().Perm()); err != nil {
				return [sha256.Size]byte{}, err
			}
		}
		return s.sum(e)
	})
}

func (s Streamed) sum(e entry) ([sha256.Size]byte, error) {
	at, err := e.File.DataOffset()
	return s[at].Sum, err
}

// Slot is one of the slots for unpacking. Its holder releases it while it waits for input.
type Slot struct {
	gate   *par.Limit
	weight int64  // larger archives get a slot first
	leave  func() // nil: it isn't held
}

func (s *Slot) acquire(ctx context.Context) (err error) {
	s.leave, err = s.gate.Acquire(ctx, s.weight)
	return err
}

func (s *Slot) release() {
	if s.leave != nil {
		s.leave()
		s.leave = nil
	}
}

// TailReader reads an archive from its file while it is downloaded: slow unpacking doesn't
// hold up the download, and while it waits for bytes, another archive may be unpacked.
type TailReader struct {
	ctx   context.Context
	file  io.ReaderAt
	mark  *par.Mark // how much has been written
	slot  *Slot
	pos   int64 // how much has been read
	there int64 // how much is known to have been written
}

// NewTailReader returns a reader of a file up to the mark, which holds one of the slots for unpacking while it doesn't wait.
func NewTailReader(ctx context.Context, file io.ReaderAt, mark *par.Mark, slots *par.Limit, weight int64) *TailReader {
	return &TailReader{ctx: ctx, file: file, mark: mark, slot: &Slot{gate: slots, weight: weight}}
}

// Read implements io.Reader. The slot is held when it returns without error.
func (f *TailReader) Read(p []byte) (int, error) {
	// The context is checked here too, because input that inflates to nothing is never written.
	if f.ctx.Err() != nil {
		return 0, context.Cause(f.ctx)
	}
	if f.pos == f.there {
		if err := f.wait(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.ReadAt(p[:min(int64(len(p)), f.there-f.pos)], f.pos)
	f.pos += int64(n)
	return n, err
}

func (f *TailReader) wait() (err error) {
	f.there, err = f.mark.At()
	switch {
	case f.there > f.pos: // even if the download has ended
		return nil
	case err != nil:
		return err
	}
	f.slot.release()
	if f.there, err = f.mark.Beyond(f.ctx, f.pos); err != nil {
		return err
	}
	return f.slot.acquire(f.ctx)
}
