package wholefile

import (
	"os"
	"path/filepath"
	"strings"
)

// sweep removes from a directory the files that killed processes were making.
// One that is being made is left alone, if it can be told; the moments before it
// is locked and after it is closed are why write tries more than once.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), Prefix) && entry.Type().IsRegular() {
			removeUnlocked(filepath.Join(dir, entry.Name()))
		}
	}
}
