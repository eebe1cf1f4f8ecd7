package inflate

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// ErrCorrupt says that the input is no DEFLATE stream.
var ErrCorrupt = errors.New("the compressed data is damaged")

// Decoder decompresses streams, one after the other. Make one with
// [New]. It isn't safe for concurrent use.
type Decoder struct {
	input
	output
	symbols   [symbolEntries]uint32
	distances [distanceEntries]uint32
	meanings  meanings
	lengths   [maxSymbols + maxDistances]uint8 // of the codes of a block
}

// New returns a Decoder.
func New() *Decoder {
	return &Decoder{meanings: newMeanings()}
}

// Copy decompresses one stream, which begins with the next byte of src, to dst. It doesn't
// retain slices that it writes to dst. The error is ErrCorrupt, io.ErrUnexpectedEOF, or an
// error of src or dst; then an unknown part of src was read, and dst has the beginning.
func (d *Decoder) Copy(dst io.Writer, src *bufio.Reader) error {
	d.reset(src)
	d.dst, d.at, d.given = dst, 0, 0
	for last := false; !last; {
		header, err := d.take(3)
		if err != nil {
			return err
		}
		last = header&1 != 0
		if err := d.block(header >> 1); err != nil {
			return err
		}
	}
	if err := d.finish(); err != nil {
		return err
	}
	return d.flush()
}

// block decompresses one block.
func (d *Decoder) block(kind uint64) error {
	switch kind {
	case 0:
		return d.stored()
	case 1:
		d.fixCodes()
	case 2:
		if err := d.readCodes(); err != nil {
			return err
		}
	default:
		return ErrCorrupt
	}
	for {
		if err := d.more(); err != nil {
			return err
		}
		done, sound := d.decode()
		if !sound {
			return ErrCorrupt
		}
		if done {
			return nil
		}
		if d.at >= room {
			if err := d.flush(); err != nil {
				return err
			}
		}
	}
}

// stored copies a block that isn't compressed.
func (d *Decoder) stored() error {
	d.putBack()
	d.held, d.left = 0, 0
	if err := d.more(); err != nil {
		return err
	}
	size := int(binary.LittleEndian.Uint16(d.in[d.pos:]))
	if size != int(^binary.LittleEndian.Uint16(d.in[d.pos+2:])) {
		return ErrCorrupt
	}
	d.pos += 4
	for size > 0 {
		if err := d.more(); err != nil {
			return err
		}
		if d.at >= room {
			if err := d.flush(); err != nil {
				return err
			}
		}
		n := copy(d.bytes[d.at:room], d.in[d.pos:min(inputBytes, d.pos+size)])
		d.at, d.pos, size = d.at+n, d.pos+n, size-n
	}
	return nil
}
