package inflate

import (
	"bufio"
	"encoding/binary"
	"io"
)

const (
	// ahead is how many bytes of input a round of decode may need: it reads 64 bits, twice.
	ahead      = 16
	inputBytes = 16 << 10
	inputEnd   = inputBytes - ahead // the last position at which a round of decode may begin
	moreEnd    = inputEnd - 8       // the last position at which it may begin after 64 bits were read
)

// input reads the compressed bytes, eight at a time.
type input struct {
	src *bufio.Reader
	// in has a copy of src's buffer, aligned to the end of in, so that the end is
	// a constant for the compiler. src discards the bytes that were used.
	in    [inputBytes]byte
	first int // the first byte of in that belongs to the stream

	// Bits are read ahead of their use.
	held uint64 // the lowest bit is the next one
	left uint64 // how many of them are valid, less than 64; higher bits are those of the next bytes, or zero
	pos  int    // of the next byte

	ended bool // src has ended, and zeros follow its last bytes
	end   int  // of src's last bytes
}

// reset begins to read from src.
func (i *input) reset(src *bufio.Reader) {
	i.src, i.first, i.pos, i.held, i.left, i.ended = src, inputBytes, inputBytes, 0, 0, false
}

// more makes sure that in has ahead more bytes.
func (i *input) more() error {
	if i.pos <= moreEnd {
		return nil
	}
	if i.ended { // so many of the zeros are used that some were read as input
		return io.ErrUnexpectedEOF
	}
	if err := i.discard(); err != nil {
		return err
	}
	_, err := i.src.Peek(inputBytes - moreEnd)
	next, _ := i.src.Peek(min(i.src.Buffered(), inputBytes))
	if len(next) < inputBytes-moreEnd {
		if err != io.EOF {
			return err
		}
		i.ended, i.end = true, moreEnd-ahead
		clear(i.in[i.end:])
		i.first = i.end - len(next)
	} else {
		i.first = inputBytes - len(next)
	}
	i.pos = i.first
	copy(i.in[i.first:], next)
	return nil
}

// discard makes src continue after the bits that were used.
func (i *input) discard() error {
	i.putBack()
	_, err := i.src.Discard(i.pos - i.first)
	i.first = i.pos
	return err
}

// putBack returns unused whole bytes of held to in.
func (i *input) putBack() {
	i.pos -= int(i.left / 8)
	i.left %= 8
	i.held &= 1<<i.left - 1
}

// peek returns the next bits, at least 56.
func (i *input) peek() (uint64, error) {
	err := i.more()
	if err == nil {
		i.fill()
	}
	return i.held, err
}

// fill reads ahead to at least 56 bits. in has to have eight more bytes.
func (i *input) fill() {
	i.held |= binary.LittleEndian.Uint64(i.in[i.pos:]) << (i.left & 63)
	i.pos += int(63-i.left) / 8
	i.left |= 56
}

// take reads n bits, at most 56.
func (i *input) take(n uint64) (uint64, error) {
	bits, err := i.peek()
	if err != nil {
		return 0, err
	}
	i.held >>= n
	i.left -= n
	return bits & (1<<n - 1), nil
}

// finish makes src continue after the stream.
func (i *input) finish() error {
	i.putBack()
	if i.ended && i.pos > i.end {
		return io.ErrUnexpectedEOF
	}
	return i.discard()
}
