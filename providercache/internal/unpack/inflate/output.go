package inflate

import (
	"encoding/binary"
	"io"
)

const (
	window     = 32 << 10 // how far back a stream may refer
	pieceBytes = 64 << 10 // of output go to the writer at once, more or less
	maxMatch   = 258
	overshoot  = 8 // bytes behind a match may be written, and are written again
	// atOnce is how much is written before it is asked again if there is room.
	atOnce = maxLiterals + maxMatch + overshoot
)

// output is what came of it: what may be referred to, and what dst hasn't got.
type output struct {
	dst   io.Writer
	bytes []byte
	at    int // of the next byte
	given int // up to there dst has it
}

// room is where there is none left for all that is written at once.
func (o *output) room() int { return len(o.bytes) - atOnce }

// flush gives dst what there is, and makes room.
func (o *output) flush() error {
	if _, err := o.dst.Write(o.bytes[o.given:o.at]); err != nil {
		return err
	}
	if o.at > window {
		copy(o.bytes, o.bytes[o.at-window:o.at])
		o.at = window
	}
	o.given = o.at
	return nil
}

// repeat copies to out[at:] what is so far back, which may be what it has just
// written. After a match there are overshoot bytes that it may write to.
func repeat(out []byte, at, distance, length int) {
	from := out[at-distance : at+length+overshoot]
	to := out[at : at+length+overshoot]
	if distance < 8 {
		for i := range length {
			to[i] = from[i]
		}
		return
	}
	for {
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
		if length <= 8 {
			return
		}
		to, from, length = to[8:], from[8:], length-8
	}
}
