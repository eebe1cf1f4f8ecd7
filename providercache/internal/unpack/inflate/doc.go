// Package inflate decompresses DEFLATE streams (RFC 1951) from a reader to a
// writer, which is what installing large packages spends most of its time on.
//
// It does less than other decompressors, which is why it takes less than half the
// time of the fastest one for Go: it can't stop after any byte of output, so it
// decodes with 64 bits of input at hand, for which no end has to be looked for
// at each symbol, into a window three times as large as what a stream may refer
// back to, and gives that to the writer in large pieces. Two literals whose codes
// are short are one entry of its table.
//
// It takes exactly the stream from the reader and leaves what follows, but waits
// until there are some bytes more, or the end. In a zip archive there are.
//
// It accepts what compress/flate accepts, with the same result. No checksum is
// computed here: callers have the archive's. No input makes it panic or use more
// than a fixed amount of memory, 150 KB.
package inflate
