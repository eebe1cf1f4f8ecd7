package providertest

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"slices"
	"time"
)

// Zip makes a deterministic package archive of files (name to content); the
// mode of all is 0755. A name that ends in a slash is a directory.
func Zip(files map[string]string) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{
			Name:     name,
			Method:   zip.Deflate,
			Modified: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		header.SetMode(0o755)
		w, err := archive.CreateHeader(header)
		must(err)
		_, err = io.WriteString(w, files[name])
		must(err)
	}
	must(archive.Close())
	return out.Bytes()
}
