package scratch

import "os"

// Temporary makes a directory among the system's temporary ones, and removes there what
// killed processes of this user have left: modules, archives, keys for ssh. All that is
// temporary and needs no place of its own belongs into one. Its mode is 0700.
func Temporary() (*Dir, error) {
	dir, err := Make(os.TempDir())
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir.Path); err == nil { // what the file system's clock says is now
		sweep(os.TempDir(), info.ModTime(), ownedByUser)
	}
	return dir, nil
}
