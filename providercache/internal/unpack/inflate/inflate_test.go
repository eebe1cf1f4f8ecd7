package inflate_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack/inflate"
)

const window = 32 << 10

// contents are what is compressed: of all sizes around that of the decoder's buffer, and with all
// kinds of repetition.
func contents() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 160_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var words, skewed bytes.Buffer
	for words.Len() < 250_000 {
		words.Write(noise[random.IntN(500):][:1+random.IntN(300)])
	}
	for i := range 120_000 { // codes of very different lengths
		skewed.WriteByte(byte(random.ExpFloat64() * float64(1+i%17)))
	}
	var rare, distances bytes.Buffer // codes of all lengths up to the longest, matches of all lengths from small distances
	for symbol, n := byte(0), 1; n < 60_000; symbol, n = symbol+1, n*8/5+1 {
		rare.Write(bytes.Repeat([]byte{symbol, noise[n]}, n))
	}
	random.Shuffle(rare.Len(), func(i, j int) { rare.Bytes()[i], rare.Bytes()[j] = rare.Bytes()[j], rare.Bytes()[i] })
	for distance := 1; distance < 300; distance++ {
		distances.Write(bytes.Repeat(noise[distance:2*distance], 2+300/distance))
	}
	return map[string][]byte{
		"rare": rare.Bytes(), "distances": distances.Bytes(),
		"nothing": {}, "a byte": {7}, "text": []byte(strings.Repeat("what is compressed ", 600)),
		"zeros": make([]byte, 200_000), "noise": noise, "words": words.Bytes(), "skewed": skewed.Bytes(),
		"far back": bytes.Repeat(noise[:32<<10], 5), "pairs": bytes.Repeat([]byte{1, 2}, 70_000), "sevens": bytes.Repeat([]byte("sevenis"), 30_000),
	}
}

// levels are ways to compress: without references, without codes, and with both.
var levels = []int{flate.HuffmanOnly, flate.NoCompression, flate.BestSpeed, flate.DefaultCompression, flate.BestCompression}

func compress(tb testing.TB, content []byte, level int) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := must.Get(flate.NewWriter(&out, level))(tb)
	must.Get(w.Write(content))(tb)
	must.Succeed(tb, w.Close())
	return out.Bytes()
}

func TestCopy_RestoresWhatWasCompressed(t *testing.T) {
	t.Parallel()
	d := inflate.New() // one for all
	for name, content := range contents() {
		for _, level := range levels {
			var out bytes.Buffer
			must.Succeed(t, d.Copy(&out, bufio.NewReader(bytes.NewReader(compress(t, content, level)))), name, level)
			must.EqualSlices(t, out.Bytes(), content, name, level)
		}
	}
}

// TestCopy_TakesNoMoreThanTheStream reads several streams one after the other, in pieces of all
// sizes, with and without bytes after the last one.
func TestCopy_TakesNoMoreThanTheStream(t *testing.T) {
	t.Parallel()
	content := contents()["text"]
	for _, rest := range []string{"", "x", "what comes after the stream"} {
		for name, pieces := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "early end": iotest.DataErrReader,
		} {
			var streams []byte
			for _, level := range levels {
				streams = append(streams, compress(t, content, level)...)
			}
			src := bufio.NewReaderSize(pieces(bytes.NewReader(append(streams, rest...))), 100)
			for _, level := range levels {
				var out bytes.Buffer
				must.Succeed(t, inflate.New().Copy(&out, src), name, level)
				must.EqualSlices(t, out.Bytes(), content, name, level)
			}
			must.Equal(t, string(must.Get(io.ReadAll(src))(t)), rest, name)
		}
	}
}

func TestCopy_ReportsAStreamThatIsNotWhole(t *testing.T) {
	t.Parallel()
	for _, level := range []int{flate.NoCompression, flate.HuffmanOnly, flate.DefaultCompression} {
		whole := compress(t, []byte(strings.Repeat("not whole, ", 40)), level)
		for size := range whole {
			err := inflate.New().Copy(io.Discard, bufio.NewReader(bytes.NewReader(whole[:size])))
			if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, inflate.ErrCorrupt) {
				t.Errorf("level %d, %d bytes of %d: %v", level, size, len(whole), err)
			}
		}
	}
}

func TestCopy_RefusesWhatIsNoStream(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]string{
		"a block of no kind":           "\x07",
		"sizes that differ":            "\x01\x04\x00\x00\x00four",
		"too many symbols":             "\xfd\x00",
		"too many distances":           "\x05\x1f",
		"a distance to before":         "\x03\x02",
		"a distance that has no sense": "\x03\x3e\x00",
		"codes that are too many":      "\x05\x40\x49\x92\x24\x49\x92\x24",
		"a repetition of nothing":      "\x05\xe0\x81\x08\x00\x00\x00\x00\x20\x7f\xeb\x0b\x00\x00",
		"a symbol that has no sense":   "\x1b\x03\x00",
	} {
		must.Fail(t, inflate.New().Copy(io.Discard, bufio.NewReader(strings.NewReader(stream+strings.Repeat("\xff", 30)))), inflate.ErrCorrupt, name)
	}
}

// full is a disk without room.
type full struct{ room int }

var errFull = errors.New("no room")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestCopy_ReturnsErrorsOfBothSides(t *testing.T) {
	t.Parallel()
	for _, level := range []int{flate.NoCompression, flate.DefaultCompression} {
		stream := compress(t, contents()["words"], level)
		must.Equal(t, inflate.New().Copy(&full{100_000}, bufio.NewReader(bytes.NewReader(stream))), errFull)
		must.Equal(t, inflate.New().Copy(io.Discard, bufio.NewReader(io.MultiReader(bytes.NewReader(stream[:len(stream)/2]), iotest.ErrReader(errFull)))), errFull)
	}
}

// same fails if a decoder and the standard library differ in what they accept, what the content is, or where the stream ends.
func same(t *testing.T, d *inflate.Decoder, stream []byte, about ...any) {
	t.Helper()
	const most = 1 << 20
	theirs := bufio.NewReader(bytes.NewReader(stream))
	want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(theirs), most))
	if len(want) == most {
		return
	}
	var got bytes.Buffer
	ours := bufio.NewReader(bytes.NewReader(stream))
	err := d.Copy(&got, ours)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%v: got %v, want %v", about, err, wantErr)
	}
	if err != nil {
		must.Equal(t, bytes.HasPrefix(want, got.Bytes()), true, about...)
		return
	}
	left, _ := io.ReadAll(ours)
	wantLeft, _ := io.ReadAll(theirs)
	must.EqualSlices(t, got.Bytes(), want, about...)
	must.EqualSlices(t, left, wantLeft, about...)
}

func FuzzCopy(f *testing.F) {
	for _, content := range contents() {
		f.Add(compress(f, content[:min(len(content), 3000)], flate.DefaultCompression))
		f.Add(compress(f, content[:min(len(content), 300)], flate.HuffmanOnly))
	}
	f.Fuzz(func(t *testing.T, stream []byte) { same(t, inflate.New(), stream) })
}

// bitWriter writes numbers, their lowest bit first.
type bitWriter struct {
	bytes []byte
	n     int
}

func (w *bitWriter) write(bits, n int) {
	for ; n > 0; bits, n = bits>>1, n-1 {
		if w.n%8 == 0 {
			w.bytes = append(w.bytes, 0)
		}
		w.bytes[w.n/8] |= byte(bits & 1 << (w.n % 8))
		w.n++
	}
}

// writeStored writes a block that isn't compressed and isn't the last one.
func (w *bitWriter) writeStored(content []byte) {
	w.bytes = append(w.bytes, 0, byte(len(content)), byte(len(content)>>8), byte(^len(content)), byte(^len(content)>>8))
	w.bytes = append(w.bytes, content...)
	w.n = 8 * len(w.bytes)
}

// codeLengths are those of a code for at most so many symbols, whose longest one has exactly so many bits, the shortest first.
func codeLengths(random *rand.Rand, symbols, longest int) []int {
	symbols = min(symbols, 3<<longest/4) // not all of them are as long
	lengths := []int{0}
	for n := range longest {
		lengths = append(lengths[:n], n+1, n+1)
	}
	for range 10 * symbols {
		if at := random.IntN(len(lengths)); len(lengths) < symbols && lengths[at] < longest {
			lengths[at]++
			lengths = append(lengths, lengths[at])
		}
	}
	slices.Sort(lengths)
	return lengths
}

// TestCopy_IsAsTheStandardLibraryForEveryTable has blocks with codes of every greatest length, for symbols and for distances. All that the codes
// stand for is in their random bits. Each stream is cut at each byte, and has one wrong bit in each byte.
func TestCopy_IsAsTheStandardLibraryForEveryTable(t *testing.T) {
	t.Parallel()
	noise, d := contents()["noise"][:window], inflate.New()
	for n := range 16 {
		longest, ofDistances := min(1+n, 15), min(16-n, 15) // with one bit there is no match
		random := rand.New(rand.NewPCG(uint64(longest), uint64(ofDistances)))
		var w bitWriter
		w.writeStored(noise)
		symbols, distances := make([]int, 286), make([]int, 30)
		lengths := codeLengths(random, 286, longest)
		last := len(lengths) - 1
		symbols[256] = lengths[last] // the end of the block has ones alone, with which each stream ends
		literal, match := 0, 257
		for i, length := range lengths[:last] {
			if i%2 == 0 && length < longest && match < 286 {
				symbols[match] = length
				match++
			} else {
				symbols[literal] = length
				literal++
			}
		}
		copy(distances, codeLengths(random, 30, ofDistances))
		random.Shuffle(30, func(i, j int) { distances[i], distances[j] = distances[j], distances[i] })
		w.write(1|2<<1, 3)              // the last block, with codes
		w.write(29|29<<5|15<<10, 5+5+4) // for 286 symbols and 30 distances, and for lengths
		for _, n := range []int{0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4} {
			w.write(n, 3)
		}
		for _, length := range slices.Concat(symbols, distances) {
			w.write(int(bits.Reverse8(uint8(length))>>4), 4)
		}
		for range 60 {
			w.write(int(random.Uint32()&0xff), 8)
		}
		whole := append(w.bytes, bytes.Repeat([]byte{0xff}, 10)...) // the end of the block, whichever code is cut off before
		for cut := len(noise); cut <= len(whole); cut++ {
			same(t, d, whole[:cut], longest, ofDistances, cut)
		}
		for wrong := len(noise); wrong < len(whole); wrong++ {
			damaged := slices.Clone(whole)
			damaged[wrong] ^= 1 << (wrong % 8)
			same(t, d, damaged, longest, ofDistances, wrong)
		}
	}
}

// TestCopy_IsAsTheStandardLibraryForEveryDistance refers back by each distance that there is, in a block with the fixed codes.
func TestCopy_IsAsTheStandardLibraryForEveryDistance(t *testing.T) {
	t.Parallel()
	var w bitWriter
	w.writeStored(contents()["noise"][:window])
	w.write(1|1<<1, 3)
	for symbol := range 30 {
		extra := max(symbol/2-1, 0)
		for low := range 1 << extra {
			w.write(int(bits.Reverse8(uint8(1+low%8))>>1), 7) // 3 to 10 bytes
			w.write(int(bits.Reverse8(uint8(symbol))>>3), 5)
			w.write(low, extra)
		}
	}
	w.write(0, 7)
	same(t, inflate.New(), w.bytes)
	same(t, inflate.New(), w.bytes[:len(w.bytes)-1]) // without a bit of the end, which is zeros
}

func BenchmarkCopy(b *testing.B) {
	content := contents()["words"]
	stream := compress(b, content, flate.DefaultCompression)
	d := inflate.New()
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		must.Succeed(b, d.Copy(io.Discard, bufio.NewReader(bytes.NewReader(stream))))
	}
}
