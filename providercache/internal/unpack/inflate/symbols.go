package inflate

import (
	"encoding/binary"
	"io"
)

const (
	window     = 32 << 10 // how far back a stream may refer
	pieceBytes = 64 << 10 // of output go to the writer at once, more or less
	maxMatch   = 258
	// maxEntries is how many entries of literals in a row a round of decode follows: what it holds has enough bits for them, or
	// for one less and a length.
	maxEntries = 3
	// room is where the output ends for a round of decode, which writes entries of two literals, a match, and bytes behind it
	// that are written again.
	room        = window + pieceBytes
	overshoot   = 32
	outputBytes = room + 2*maxEntries + maxMatch + overshoot
)

// decode decompresses as much of a block as there is input and room for. It reports whether the block has ended, and whether
// the data is valid. Its variables are the decoder's fields, in registers; of left only the lowest six bits count.
//
// That positions are less than constants is compared, so that the compiler leaves out its own checks of bounds.
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

// repeat copies to out[at:] what begins at from, and may be what it has just written. Most matches are shorter than what is
// copied without asking for the length.
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

// output is what came of it: what may be referred to, and what dst hasn't got.
type output struct {
	dst   io.Writer
	bytes [outputBytes]byte
	at    int // of the next byte
	given int // up to there dst has it
}

// flush gives dst what there is, and makes room.
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
