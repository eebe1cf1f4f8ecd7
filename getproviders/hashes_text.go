package getproviders

import (
	"strings"
)

func joinAllHashes(hashes []Hash) string {
	texts := make([]string, len(hashes))
	for i, h := range hashes {
		texts[i] = string(h)
	}
	return strings.Join(texts, " and ")
}
