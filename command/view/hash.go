package view

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tfdeps/tfdeps/getproviders"
)

// PackageHashes are the hashes of a package on this machine.
type PackageHashes struct {
	Path string            `json:"path"`
	H1   getproviders.Hash `json:"h1"`
	ZH   getproviders.Hash `json:"zh,omitempty"` // "" for a directory
}

// WriteHashes prints a hash and its package on each line, as sha256sum does, or
// JSON.
func WriteHashes(w io.Writer, hashes []PackageHashes, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(hashes)
	}
	for _, p := range hashes {
		for _, h := range []getproviders.Hash{p.H1, p.ZH} {
			if h == "" {
				continue
			}
			if _, err := fmt.Fprintf(w, "%s  %s\n", h, printable(p.Path)); err != nil {
				return err
			}
		}
	}
	return nil
}
