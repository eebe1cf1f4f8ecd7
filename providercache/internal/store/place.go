package store

import (
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Place looks at where the store is. What can't be found out is left at its zero value.
func (c *Store) Place() disk.Place {
	p := disk.Place{Dir: c.Dir, Free: -1}
	for {
		info, err := os.Stat(p.Dir)
		if err == nil && info.IsDir() {
			break
		}
		above := filepath.Dir(p.Dir)
		if above == p.Dir {
			return p
		}
		p.Dir = above
	}
	p.Exists = p.Dir == c.Dir
	p.FileSystem = disk.Kind(p.Dir)
	p.KeepsTimes = receipt.KeepsTimes(p.Dir)
	if free, known := disk.Room(p.Dir); known {
		p.Free = free
	}
	p.Exposed = owner.Exposed(p.Dir)
	return p
}

// Exposed returns those of the packages that another user than this one and root can change, so
// that no receipt for them counts.
func (u *Maintenance) Exposed(packages []Package) (exposed []Package) {
	view := u.view()
	for _, p := range packages {
		if !view.IsOwn(p.Dir) {
			exposed = append(exposed, p)
		}
	}
	return exposed
}
