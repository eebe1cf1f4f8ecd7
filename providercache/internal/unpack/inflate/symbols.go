package inflate

import (
	"encoding/binary"
	"io"
)

// What has codes.
const (
	endOfBlock   = 256
	maxSymbols   = 288 // bytes, the end of a block, lengths
	maxDistances = 32
)

// meanings are what symbols mean, as entries of tables without the length of a
// code. 0: nothing.
type meanings struct {
	symbols   [maxSymbols]uint32
	distances [maxDistances]uint32
	lengths   [19]uint32 // of codes
}

// newMeanings computes the tables of RFC 1951, sections 3.2.5 and 3.2.7.
func newMeanings() (m meanings) {
	for i := range uint32(endOfBlock) {
		m.symbols[i] = i<<16 | kindLiteral
	}
	m.symbols[endOfBlock] = kindEnd
	lengths := m.symbols[endOfBlock+1:]
	ranges(lengths[:28], 3, 4)
	lengths[28] = maxMatch << 16
	ranges(m.distances[:30], 1, 2)
	for i := range uint32(16) {
		m.lengths[i] = i<<16 | kindLiteral
	}
	m.lengths[16] = 3<<16 | 2<<8 | kindPrevious
	m.lengths[17] = 3<<16 | 3<<8
	m.lengths[18] = 11<<16 | 7<<8
	return m
}

// ranges makes the entries of symbols for numbers from least on. Each stands for
// twice as many as the one that is so many symbols before it, but for the first
// ones, which stand for one each.
func ranges(entries []uint32, least uint32, step int) {
	for i := range entries {
		extra := uint32(max(i/step-1, 0))
		entries[i] = least<<16 | extra<<8
		least += 1 << extra
	}
}

// maxLiterals is for how many codes in a row what is held has enough bits, and
// for looking at one more.
const maxLiterals = 3

// decode decompresses as much of a block as there is input and room for. Its
// variables are the decoder's fields, in registers. sound: there was nothing wrong.
func (d *Decoder) decode() (done, sound bool) {
	symbols := (*[1 << symbolBits]uint32)(d.symbols.entries)
	distances := (*[1 << distanceBits]uint32)(d.distances.entries)
	c, in, out, at, room := d.cursor, d.in, d.bytes, d.at, d.room()
	var length, distance int
	sound = true
	for sound && !done && c.pos <= len(in)-ahead && at < room {
		c = c.fill(in)
		e := symbols[c.held%(1<<symbolBits)]
		for n := 0; e&kindLiteral != 0 && n < maxLiterals; n++ {
			c = c.drop(e)
			out[at] = byte(e >> 16)
			at++
			e = symbols[c.held%(1<<symbolBits)]
		}
		c = c.fill(in)
		if e&kindLink != 0 {
			c, e = d.symbols.follow(c, e)
		}
		if e&(kindLiteral|kindEnd) != 0 || e == 0 {
			out[at] = byte(e >> 16) // it is overwritten or cut off if it is the end
			at += int(e / kindLiteral & 1)
			c, done, sound = c.drop(e), e&kindEnd != 0, e != 0
			continue
		}
		c, length = c.value(e)
		e = distances[c.held%(1<<distanceBits)]
		if e&kindLink != 0 {
			c, e = d.distances.follow(c, e)
		}
		if c, distance = c.value(e); e == 0 || distance > at {
			sound = false
			continue
		}
		repeat(out, at, distance, length)
		at += length
	}
	d.cursor, d.at = c, at
	return done, sound
}

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
