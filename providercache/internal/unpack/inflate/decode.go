package inflate

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
