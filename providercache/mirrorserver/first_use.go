package mirrorserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// errDamaged says that an archive of the bucket has changed since it was stored.
var errDamaged = errors.New("the stored archive is damaged: ask again, and it is downloaded again")

// heldBack is how many bytes at the end of an archive are sent only after the archive has passed all
// checks. A zip archive is useless without them, because its directory is at its end.
const heldBack = 1 << 10

// firstReader reads an archive of the bucket that this server hasn't read yet, from its
// beginning. It returns the end only if the archive has the hash in its key.
type firstReader struct {
	*objectReader
	want   getproviders.Hash
	sum    hash.Hash
	end    []byte // nil: not read yet
	failed error  // why end isn't returned
}

// ReadAt implements io.ReaderAt.
func (f *firstReader) ReadAt(p []byte, at int64) (int, error) {
	held := max(f.size-heldBack, 0)
	if at < held {
		n, err := f.objectReader.ReadAt(p[:min(int64(len(p)), held-at)], at)
		f.sum.Write(p[:n])
		return n, err
	}
	if f.end == nil {
		end, err := io.ReadAll(io.NewSectionReader(f.objectReader, held, f.size-held))
		f.sum.Write(end)
		if is := getproviders.ZH([sha256.Size]byte(f.sum.Sum(nil))); err == nil && is != f.want {
			err = fmt.Errorf("%w (%s in place of %s)", errDamaged, is, f.want)
		}
		if f.failed = err; err != nil {
			return 0, err
		}
		f.end = end
	}
	n := copy(p, f.end[at-held:])
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// firstUse returns a reader for an archive that this server reads for the first time, or nil if
// it has read it before. For a request for a part, firstUse reads the whole archive first.
func (s *Server) firstUse(archive storedArchive, tag string, content *objectReader, part bool) (first *firstReader, err error) {
	if known, ok := s.verified.Get(archive.Key); ok && known == tag {
		return nil, nil
	}
	first = &firstReader{objectReader: content, want: archive.ZH, sum: sha256.New()}
	if !part && content.size > 0 {
		return first, nil
	}
	_, err = io.Copy(io.Discard, io.NewSectionReader(first, 0, max(content.size, 1))) // an empty one is damaged
	s.used(archive, tag, first)
	return nil, err
}

// used records the result of a first use. A damaged archive is removed, so that the next request downloads it again.
func (s *Server) used(archive storedArchive, tag string, first *firstReader) {
	switch {
	case first.end != nil:
		s.verified.Put(archive.Key, tag, 1)
	case errors.Is(first.failed, errDamaged):
		s.counts.damaged.Add(1)
		s.opts.Log.Error("an archive of the bucket is damaged, and removed", "archive", archive.Key, "error", first.failed.Error())
		s.stored.forget(archive.Key[:strings.LastIndexByte(archive.Key, '/')+1])
		ctx, cancel := context.WithTimeout(context.WithoutCancel(first.ctx), markTimeout)
		defer cancel()
		if err := s.bucket.Delete(ctx, archive.Key); err != nil {
			s.notStored("archive", archive.Key, err)
		}
	}
}

// objectReader reads an object at given offsets, with one request for each jump.
type objectReader struct {
	ctx    context.Context
	bucket blob.Bucket
	key    string
	size   int64

	body   io.ReadCloser // at the offset begins; nil: not open
	begins int64
}

// ReadAt implements io.ReaderAt.
func (o *objectReader) ReadAt(p []byte, at int64) (int, error) {
	if o.body != nil && o.begins != at {
		o.Close()
	}
	if o.body == nil {
		object, err := o.bucket.Get(o.ctx, o.key, blob.GetOptions{Offset: at})
		if err != nil {
			return 0, err
		}
		o.body, o.begins = object.Body, at
	}
	n, err := o.body.Read(p)
	if o.begins += int64(n); err == io.EOF && o.begins < o.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements io.Closer.
func (o *objectReader) Close() error {
	if o.body == nil {
		return nil
	}
	err := o.body.Close()
	o.body = nil
	return err
}
