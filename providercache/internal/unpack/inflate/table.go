package inflate

import "math/bits"

// A table entry says what a code stands for:
//
//	bits 0 to 5    how many bits the code and the extra bits behind it have; of a link, how many its part of the code has
//	bit 7          of a literal: it is two
//	bits 8 to 11   how many of these are the code's; of a link, how many more are looked up in the second part
//	bits 12 to 15  the kind; none of them: a length or a distance
//	bits 16 to 31  the byte or the two bytes, the least length or distance, or where a second part of the table begins
const (
	isEnd      = 1 << 12
	isPrevious = isEnd // of code lengths: repeat the previous one
	isLink     = 1 << 13
	isSpecial  = 1 << 14 // an end, a link, or an invalid code, which has only this bit in the table of symbols
	isLiteral  = 1 << 15
	isJoined   = 1 << 7
)

// The first bits of a code select an entry. Longer codes are rare.
const (
	symbolBits   = 11
	distanceBits = 8
	longest      = 15 // bits of a code
)

// Codes with more bits are looked up in second parts of the table, one for each
// prefix. At least two symbols share such a part, because the code is complete.
const (
	symbolEntries   = 1<<symbolBits + maxSymbols/2<<(longest-symbolBits)
	distanceEntries = 1<<distanceBits + maxDistances/2<<(longest-distanceBits)
)

// build makes a table whose first part is for first bits, from the lengths of codes, where 0
// means no code. It returns false if the lengths aren't those of a code. meaning has an entry
// for each symbol, without the code's bits. nothing is the entry for invalid codes.
func build(entries []uint32, first int, lengths []uint8, meaning []uint32, nothing uint32) bool {
	var count, place [longest + 2]int
	for _, n := range lengths {
		count[n]++
	}
	most, all, space := 0, 0, 0
	for n := 1; n <= longest; n++ {
		place[n+1] = place[n] + count[n]
		all += count[n]
		space += count[n] << (longest - n)
		if count[n] > 0 {
			most = n
		}
	}
	if space != 1<<longest {
		if all > 1 || count[1] != all { // a single code has one bit, and no sibling
			return false
		}
		for i := range entries[:1<<first] {
			entries[i] = nothing
		}
		for symbol, n := range lengths {
			if n > 0 {
				for i := 0; i < 1<<first; i += 2 {
					entries[i] = meaning[symbol] + 1<<8 + 1
				}
			}
		}
		return true
	}
	var sorted [maxSymbols]uint16
	for symbol, n := range lengths {
		if n > 0 {
			sorted[place[n]] = uint16(symbol)
			place[n]++
		}
	}
	code, next := 0, 0 // codes are read from their lowest bit
	for n := 1; n <= first; n++ {
		size := 1 << n
		copy(entries[size/2:size], entries[:size/2])
		for ; next < place[n]; next++ {
			entries[code] = meaning[sorted[next]] + uint32(n)<<8 + uint32(n)
			code = following(code, size)
		}
	}
	prefix, from, free := -1, 0, 1<<first
	for n := first + 1; n <= most; n++ {
		for ; next < place[n]; next++ {
			if p := code & (1<<first - 1); p != prefix {
				prefix, from = p, free
				free += 1 << (most - first)
				entries[p] = uint32(from)<<16 | isSpecial | isLink | uint32(most-first)<<8 | uint32(first)
			}
			for i := code >> first; i < 1<<(most-first); i += 1 << (n - first) {
				entries[from+i] = meaning[sorted[next]] + uint32(n-first)<<8 + uint32(n-first)
			}
			code = following(code, 1<<n)
		}
	}
	return true
}

// following returns the next of so many codes of the same length, with their bits reversed. After the last one comes 0.
func following(code, codes int) int {
	rest := code ^ (codes - 1)
	if rest == 0 {
		return 0
	}
	bit := 1 << (bits.Len(uint(rest)) - 1)
	return code&(bit-1) | bit
}
