package inflate

import "math/bits"

// An entry of a table says what a code stands for:
//
//	bits 0 to 3    how many bits the code has, or the part of it that was looked up
//	bits 8 to 11   how many extra bits follow; for a link, how many bits of the
//	               code do
//	bits 13 to 15  the kind; none of them: a length or a distance
//	bits 16 to 31  the byte, the least length or distance, or where a second part
//	               of the table begins
//
// 0 is the entry for what is no code.
const (
	kindEnd      = 1 << 13
	kindPrevious = kindEnd // of lengths of codes: the last one comes again
	kindLink     = 1 << 14
	kindLiteral  = 1 << 15

	longest = 15 // bits of a code
)

// The first so many bits of a code select an entry. Longer codes are rare.
const (
	symbolBits   = 11
	distanceBits = 8
)

// table finds out what a code stands for. Codes that have more bits than the
// first part of the table is for are looked up in second parts, one for each
// beginning. At least two symbols share such a part, because no code is missing.
type table struct {
	entries []uint32
	bits    int
}

func newTable(bits, symbols int) table {
	return table{make([]uint32, 1<<bits+symbols/2<<(longest-bits)), bits}
}

// follow looks the rest of a code up.
func (t *table) follow(c cursor, link uint32) (cursor, uint32) {
	c = c.drop(link)
	second := uint64(1)<<(link>>8&15) - 1
	return c, t.entries[uint64(link>>16)+c.held&second]
}

// build makes the table for codes with these lengths, 0 being no code, and
// reports whether they are such. meaning has an entry for each symbol.
func (t table) build(lengths []uint8, meaning []uint32) bool {
	var count, code, place [longest + 2]int
	for _, n := range lengths {
		count[n]++
	}
	all := 0
	for n := 1; n <= longest; n++ {
		code[n+1] = (code[n] + count[n]) << 1
		place[n+1] = place[n] + count[n]
		all += count[n]
	}
	clear(t.entries[:1<<t.bits])
	if code[longest+1] != 2<<longest && (all > 1 || count[1] != all) { // one code alone has one bit, and no sibling
		return false
	}
	var sorted [maxSymbols]uint16
	for symbol, n := range lengths {
		if n > 0 {
			sorted[place[n]] = uint16(symbol)
			place[n]++
		}
	}
	free := 1 << t.bits
	for _, symbol := range sorted[:all] {
		n := int(lengths[symbol])
		free = t.set(int(bits.Reverse16(uint16(code[n]))>>(16-n)), n, meaning[symbol], free)
		code[n]++
	}
	return true
}

// set makes the entries for a code of n bits, the first one lowest. free is
// where there is room for second parts.
func (t table) set(code, n int, meaning uint32, free int) int {
	if n <= t.bits {
		spread(t.entries[:1<<t.bits], code, n, meaning)
		return free
	}
	const second = 1 << longest
	link := &t.entries[code&(1<<t.bits-1)]
	if *link == 0 {
		*link = uint32(free)<<16 | kindLink | uint32(longest-t.bits)<<8 | uint32(t.bits)
		free += second >> t.bits
	}
	from := int(*link >> 16)
	spread(t.entries[from:from+second>>t.bits], code>>t.bits, n-t.bits, meaning)
	return free
}

// spread sets all entries whose index ends in a code of n bits.
func spread(entries []uint32, code, n int, meaning uint32) {
	if meaning != 0 {
		meaning |= uint32(n)
	}
	for i := code; i < len(entries); i += 1 << n {
		entries[i] = meaning
	}
}
