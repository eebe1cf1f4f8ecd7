package store

import (
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Place is what can be told of where a store is, without writing anything there.
type Place struct {
	// Dir is the store's directory or, where that doesn't exist yet, the first one above it that
	// does. The rest is about it.
	Dir string
	// Exists says that the store's directory is there.
	Exists bool

	FileSystem string // its kind, as the system names it: "ext4", "nfs4"; "": not known
	// KeepsTimes says that the file system keeps the times by which receipts notice changes. Where it
	// doesn't, every use of a package hashes it.
	KeepsTimes bool
	Free       int64 // bytes that this user can write; less than 0: not known

	// Exposed is the outermost directory, Dir itself and those above it, in which other users can
	// exchange what is there, so that no receipt counts; "": there is none.
	Exposed string
}

// Place looks at where the store is. What can't be found out is left at its zero value.
func (c *Store) Place() Place {
	p := Place{Dir: c.Dir, Free: -1}
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
