package inflate

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
