package inflate

// Limits of the alphabets.
const (
	endOfBlock   = 256
	maxSymbols   = 288 // bytes, the end of a block, lengths
	maxDistances = 32
	lengthBits   = 7 // of a code for a code length, at most
)

// meanings are the values of symbols, as table entries without the length of a code. Distances without a meaning are 0.
type meanings struct {
	symbols   [maxSymbols]uint32
	distances [maxDistances]uint32
	lengths   [19]uint32 // of code lengths
}

// newMeanings computes the tables of RFC 1951, sections 3.2.5 and 3.2.7.
func newMeanings() (m meanings) {
	for i := range uint32(endOfBlock) {
		m.symbols[i] = i<<16 | isLiteral
	}
	m.symbols[endOfBlock] = isSpecial | isEnd
	lengths := m.symbols[endOfBlock+1:]
	ranges(lengths[:28], 3, 4)
	lengths[28] = maxMatch << 16
	lengths[29], lengths[30] = isSpecial, isSpecial
	ranges(m.distances[:30], 1, 2)
	for i := range uint32(16) {
		m.lengths[i] = i<<16 | isLiteral
	}
	m.lengths[16] = 3<<16 | 2 | isPrevious
	m.lengths[17] = 3<<16 | 3
	m.lengths[18] = 11<<16 | 7
	return m
}

// ranges fills entries with the base values and extra bits of symbols, from least on. After the first ones, which
// stand for one number each, each symbol stands for twice as many numbers as the symbol step before it.
func ranges(entries []uint32, least uint32, step int) {
	for i := range entries {
		extra := uint32(max(i/step-1, 0))
		entries[i] = least<<16 | extra
		least += 1 << extra
	}
}

// fixCodes builds the tables of a block with fixed codes.
func (d *Decoder) fixCodes() {
	for i := range maxSymbols {
		switch {
		case i < 144 || i >= 280:
			d.lengths[i] = 8
		case i < 256:
			d.lengths[i] = 9
		default:
			d.lengths[i] = 7
		}
	}
	for i := range maxDistances {
		d.lengths[maxSymbols+i] = 5
	}
	d.build(maxSymbols, maxDistances)
}

// readCodes reads the tables of a block with dynamic codes.
func (d *Decoder) readCodes() error {
	header, err := d.take(5 + 5 + 4)
	if err != nil {
		return err
	}
	symbols, distances, count := int(header%32)+257, int(header>>5%32)+1, int(header>>10)+4
	if symbols > 286 || distances > 30 {
		return ErrCorrupt
	}
	order := [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	var lengths [len(order)]uint8 // of the codes for code lengths
	for _, i := range order[:count] {
		n, err := d.take(3)
		if err != nil {
			return err
		}
		lengths[i] = uint8(n)
	}
	if !build(d.symbols[:], lengthBits, lengths[:], d.meanings.lengths[:], isSpecial) {
		return ErrCorrupt
	}
	all := d.lengths[:symbols+distances]
	if err := d.readLengths(all); err != nil {
		return err
	}
	if !d.build(symbols, distances) {
		return ErrCorrupt
	}
	return nil
}

// build builds the tables of a block from the lengths of its codes.
func (d *Decoder) build(symbols, distances int) bool {
	valid := build(d.symbols[:], symbolBits, d.lengths[:symbols], d.meanings.symbols[:], isSpecial)
	join(d.symbols[:1<<symbolBits], symbolBits)
	return valid && build(d.distances[:], distanceBits, d.lengths[symbols:symbols+distances], d.meanings.distances[:], 0)
}

// readLengths reads the lengths of codes.
func (d *Decoder) readLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		bits, err := d.peek()
		if err != nil {
			return err
		}
		e := d.symbols[bits%(1<<lengthBits)]
		if e&isSpecial != 0 {
			return ErrCorrupt
		}
		n := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&15))
		d.held >>= e & 63
		d.left -= uint64(e & 63)
		if e&isLiteral != 0 {
			lengths[i] = uint8(e >> 16)
			i++
			continue
		}
		again := uint8(0)
		if e&isPrevious != 0 && i > 0 {
			again = lengths[i-1]
		}
		if n > len(lengths)-i || e&isPrevious != 0 && i == 0 {
			return ErrCorrupt
		}
		for range n {
			lengths[i] = again
			i++
		}
	}
	return nil
}

// join combines an entry of a literal with the next one, if the same bits also hold the code of
// a second literal: the first byte is the lower one of the upper half, and isJoined marks the
// entry. It goes backwards, because an entry depends only on earlier ones.
func join(entries []uint32, bits uint32) {
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		next := entries[i>>(e&63)]
		if all := e&63 + next&63; e&next&isLiteral != 0 && all <= bits {
			entries[i] = next<<8&0xff000000 | e&0xff0000 | isLiteral | isJoined | all
		}
	}
}
