// Package inflate decompresses DEFLATE streams (RFC 1951) from a reader to a
// writer, which takes most of the time of installing large packages.
//
// It does less than other decompressors, and so takes less than half the time of the
// fastest one for Go. It can't stop after any byte of output. So it decodes with 64 bits
// of input at hand, without a check for the end at each symbol, into a window three
// times as large as the distance that a stream may refer back, and writes that in large
// pieces. Two literals with short codes are one entry of its table.
//
// It takes exactly the stream from the reader and leaves what follows, but
// waits for some more bytes, or the end. A zip archive has such bytes.
//
// It accepts what compress/flate accepts, with the same result. It
// computes no checksum, because callers have the archive's. No input
// makes it panic or use more than a fixed amount of memory, 150 KB.
package inflate
