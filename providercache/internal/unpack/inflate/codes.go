package inflate

// fixCodes makes the tables of a block that comes without.
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
	d.symbols.build(d.lengths[:maxSymbols], d.meanings.symbols[:])
	d.distances.build(d.lengths[maxSymbols:], d.meanings.distances[:])
}

// readCodes reads the tables of a block.
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
	var lengths [len(order)]uint8 // of the codes for lengths of codes
	for _, i := range order[:count] {
		n, err := d.take(3)
		if err != nil {
			return err
		}
		lengths[i] = uint8(n)
	}
	if !d.symbols.build(lengths[:], d.meanings.lengths[:]) {
		return ErrCorrupt
	}
	all := d.lengths[:symbols+distances]
	if err := d.readLengths(all); err != nil {
		return err
	}
	if !d.symbols.build(all[:symbols], d.meanings.symbols[:]) || !d.distances.build(all[symbols:], d.meanings.distances[:]) {
		return ErrCorrupt
	}
	return nil
}

// readLengths reads the lengths of codes.
func (d *Decoder) readLengths(lengths []uint8) error {
	for i := 0; i < len(lengths); {
		bits, err := d.peek()
		if err != nil {
			return err
		}
		e := d.symbols.entries[bits%(1<<symbolBits)]
		if e == 0 {
			return ErrCorrupt
		}
		if e&kindLiteral != 0 {
			d.cursor = d.drop(e)
			lengths[i] = uint8(e >> 16)
			i++
			continue
		}
		var n int
		d.cursor, n = d.value(e)
		again := uint8(0)
		if e&kindPrevious != 0 && i > 0 {
			again = lengths[i-1]
		}
		if n > len(lengths)-i || e&kindPrevious != 0 && i == 0 {
			return ErrCorrupt
		}
		for range n {
			lengths[i] = again
			i++
		}
	}
	return nil
}
