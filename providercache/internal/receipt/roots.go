package receipt

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/providercache/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

// ReceiptRoots lists the directories that there are receipts for, targets and
// caches, and the names of the packages in each. That is who uses a package:
// packages don't know.
func ReceiptRoots(state string) map[string][]string {
	roots := map[string][]string{}
	EachStateFile(state, receiptsDir, func(_, root string, entries map[string][]byte) {
		roots[root] = slices.Sorted(maps.Keys(entries))
	})
	return roots
}

// SweepReceipts removes the receipts for directories that are gone.
func SweepReceipts(state string) {
	EachStateFile(state, receiptsDir, func(path, root string, _ map[string][]byte) {
		if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(path)
		}
	})
}

// EachStateFile reads the files that are about directories, of one kind.
func EachStateFile(state, kind string, do func(path, root string, entries map[string][]byte)) {
	dir := Below(state, kind)
	if dir == "" {
		return
	}
	list, err := os.ReadDir(dir)
	if info, statErr := os.Stat(dir); err != nil || statErr != nil || !owner.IsPrivate(dir, info) {
		return
	}
	for _, item := range list {
		path := filepath.Join(dir, item.Name())
		content, err := statefile.ReadOwn(path, owner.IsPrivate)
		if err != nil {
			continue
		}
		root, entries, err := statefile.DecodeState(content)
		if err != nil || item.Name() != ReceiptsName(root) {
			continue
		}
		do(path, root, entries)
	}
}
