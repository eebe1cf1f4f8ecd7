package inflate

import (
	"encoding/binary"
	"io"
)

const (
	window     = 32 << 10 // how far back a stream may refer
	pieceBytes = 64 << 10 // about how many bytes of output are written at once
	maxMatch   = 258
	// maxEntries is how many literal entries in a row a round of decode handles:
	// the bits held are enough for them, or for one less and a length.
	maxEntries = 3
	// room is where the output ends for a round of decode, which may still write entries of
	// two literals, a match, and some bytes behind it that are overwritten later.
	room        = window + pieceBytes
	overshoot   = 32
	outputBytes = room + 2*maxEntries + maxMatch + overshoot
)

// decode decompresses as much of a block as input and room allow. It reports whether the block has ended, and whether the
// data is valid. Its variables are copies of the decoder's fields, in registers; only the lowest six bits of left count.
//
// Comparing positions with constants lets the compiler omit its own bounds checks.
func (d *Decoder) decode() (done, valid bool) {
	d.fill()
	pos, held, left, at := uint(d.pos), d.held, d.left, uint(d.at)
	e := d.symbols[held%(1<<symbolBits)]
	valid = true
rounds:
	for pos <= inputEnd && at < room {
		held |= binary.LittleEndian.Uint64(d.in[pos:]) << (left & 63)
		pos += uint(^left & 63 >> 3)
		left |= 56
		before := held
		held, left = held>>(e&63), left-uint64(e)
		for n := 1; e&isLiteral != 0; n++ {
			binary.LittleEndian.PutUint16(d.bytes[at:], uint16(e>>16))
			at += 1 + uint(e/isJoined&1)
			e = d.symbols[held%(1<<symbolBits)]
			if n == maxEntries {
				continue rounds
			}
			before = held
			held, left = held>>(e&63), left-uint64(e)
		}
		if e&isSpecial != 0 {
			if e&isLink != 0 {
				before = held
				e = d.symbols[uint64(e>>16)+held&(1<<(e>>8&15)-1)]
				held, left = held>>(e&63), left-uint64(e)
			}
			if e&isLiteral != 0 {
				d.bytes[at] = byte(e >> 16)
				at++
				e = d.symbols[held%(1<<symbolBits)]
				continue
			}
			if e&isSpecial != 0 {
				done, valid = true, e&isEnd != 0
				break
			}
		}
		length := uint(e>>16) + uint(before&(1<<(e&63)-1)>>(e>>8&15))

		held |= binary.LittleEndian.Uint64(d.in[pos:]) << (left & 63)
		pos += uint(^left & 63 >> 3)
		left |= 56
		e = d.distances[held%(1<<distanceBits)]
		if e&isLink != 0 {
			held, left = held>>(e&63), left-uint64(e)
			e = d.distances[uint64(e>>16)+held&(1<<(e>>8&15)-1)]
		}
		from := at - uint(e>>16) - uint(held&(1<<(e&63)-1)>>(e>>8&15))
		held, left = held>>(e&63), left-uint64(e)
		if from >= at || at > room+2*maxEntries { // codes without a meaning have the distance 0
			return false, false
		}
		e = d.symbols[held%(1<<symbolBits)]
		repeat(&d.bytes, at, from, length)
		at += length
	}
	d.pos, d.held, d.left, d.at = int(pos), held, left&63, int(at)
	return done, valid
}

// repeat copies out[from:] to out[at:]; the two may overlap. The first 24 bytes are
// copied without comparing the length, because most matches are shorter.
func repeat(out *[outputBytes]byte, at, from, length uint) {
	if at-from < 8 {
		for n := range length {
			out[at+n] = out[from+n]
		}
		return
	}
	to, of := (*[maxMatch + overshoot]byte)(out[at:]), (*[maxMatch + overshoot]byte)(out[from:])
	binary.LittleEndian.PutUint64(to[0:], binary.LittleEndian.Uint64(of[0:]))
	binary.LittleEndian.PutUint64(to[8:], binary.LittleEndian.Uint64(of[8:]))
	binary.LittleEndian.PutUint64(to[16:], binary.LittleEndian.Uint64(of[16:]))
	for n := uint(24); n < length; n += 8 {
		binary.LittleEndian.PutUint64(to[n:], binary.LittleEndian.Uint64(of[n:]))
	}
}

// output is the decompressed data: the window, and bytes that dst doesn't have yet.
type output struct {
	dst   io.Writer
	bytes [outputBytes]byte
	at    int // of the next byte
	given int // dst has the bytes before it
}

// flush writes the new bytes to dst, and moves the window to the front.
func (o *output) flush() error {
	if _, err := o.dst.Write(o.bytes[o.given:o.at]); err != nil {
		return err
	}
	if o.at > window {
		copy(o.bytes[:], o.bytes[o.at-window:o.at])
		o.at = window
	}
	o.given = o.at
	return nil
}
