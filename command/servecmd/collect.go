package servecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// collectEvery is how often what is too much is removed.
const collectEvery = time.Hour

// collector removes archives that weren't used for the longest time.
type collector struct {
	maxBytes int64
	locked   []string // lock files, and directories in and below which they are
	product  getproviders.Product
	log      *slog.Logger
}

// run collects until the context ends.
func (c *collector) run(ctx context.Context, server *mirrorserver.Server) {
	for ctx.Err() == nil {
		if err := c.collect(ctx, server); err != nil && ctx.Err() == nil {
			c.log.Error("nothing is removed for now", "error", err.Error())
		}
		par.Pause(ctx, collectEvery)
	}
}

func (c *collector) collect(ctx context.Context, server *mirrorserver.Server) error {
	keep, err := c.lockedHashes()
	if err != nil { // rather too much than what a lock file selects
		return err
	}
	found, err := server.Collect(ctx, mirrorserver.CollectOptions{MaxBytes: c.maxBytes, Keep: keep})
	if found.Removed > 0 {
		c.log.Info("archives are removed that weren't used for the longest time", "archives", found.Removed, "bytes", found.RemovedBytes)
	}
	if left := found.Bytes - found.RemovedBytes; err == nil && left > c.maxBytes {
		c.log.Warn("more is kept than -max-size says, because lock files select it or it was used lately", "bytes", left)
	}
	return err
}

// lockedHashes reads the lock files, and returns what tells whether one of them selects an archive.
func (c *collector) lockedHashes() (func(getproviders.Provider, getproviders.Version, []getproviders.Hash) bool, error) {
	selected := map[getproviders.Hash]bool{}
	for _, path := range c.locked {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || file != path && entry.Name() != ".terraform.lock.hcl" {
				return err
			}
			locks, problems := depsfile.Load(file, c.product)
			if problems.HasErrors() {
				return fmt.Errorf("%s can't be read: %s", file, problems.Error())
			}
			for _, lock := range locks.All() {
				for _, h := range lock.Hashes {
					selected[h] = true
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return func(_ getproviders.Provider, _ getproviders.Version, hashes []getproviders.Hash) bool {
		return slices.ContainsFunc(hashes, func(h getproviders.Hash) bool { return selected[h] })
	}, nil
}

// parseSize reads a size: "200GB", "1.5 TiB". A number alone is refused: who forgets the unit would lose all archives.
func parseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "KMGTiBkmgtb ")
	unit := strings.ToUpper(strings.TrimSpace(text[len(number):]))
	factor, ok := map[string]float64{"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}[unit]
	value, err := strconv.ParseFloat(number, 64)
	if !ok {
		err = cmp.Or(err, errors.New("the unit isn't known"))
	}
	if number != "" && unit == "" {
		return 0, fmt.Errorf("%q has no unit: it has to be like 200GB or 1.5TiB", text)
	}
	if bytes := value * factor; err != nil || !(bytes >= 1 && bytes < math.MaxInt64/2) {
		return 0, fmt.Errorf("%q is no size: it has to be like 200GB or 1.5TiB", text)
	}
	return int64(value * factor), nil
}
