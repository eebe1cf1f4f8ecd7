package googlestorage

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// ErrDamaged means that content was changed in transit.
var ErrDamaged = errors.New("the content doesn't match the service's checksum")

// Checked returns the body of a response. At its end, reading fails with ErrDamaged if the content doesn't match
// the checksum in X-Goog-Hash. Content that Google decompresses isn't checked: its checksum is that of the stored
// form.
func Checked(resp *http.Response) io.ReadCloser {
	if resp.Header.Get("X-Goog-Stored-Content-Encoding") == "gzip" {
		return resp.Body
	}
	for _, line := range resp.Header.Values("X-Goog-Hash") {
		for part := range strings.SplitSeq(line, ",") {
			text, found := strings.CutPrefix(strings.TrimSpace(part), "crc32c=")
			sum, err := base64.StdEncoding.DecodeString(text)
			if !found || err != nil || len(sum) != crc32.Size {
				continue
			}
			return &checkedBody{
				ReadCloser: resp.Body, url: hosts.RedactURL(resp.Request.URL),
				sum: crc32.New(crc32.MakeTable(crc32.Castagnoli)), want: binary.BigEndian.Uint32(sum),
			}
		}
	}
	return resp.Body
}

type checkedBody struct {
	io.ReadCloser
	url  string
	sum  hash.Hash32
	want uint32
}

// Read implements io.Reader.
func (b *checkedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.sum.Write(p[:n])
	if err == io.EOF && b.sum.Sum32() != b.want {
		return n, fmt.Errorf("GET %q: %w", b.url, ErrDamaged)
	}
	return n, err
}
