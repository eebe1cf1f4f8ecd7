package unpack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
)

// FindExecutable returns the path of a package's executable: the first file
// whose name is right.
func FindExecutable(dir string, p getproviders.Provider) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if !entry.IsDir() && getproviders.ExecutableName(p, entry.Name()) {
			return filepath.Join(dir, entry.Name()), nil
		}
	}
	return "", errNoExecutable(p)
}

func errNoExecutable(p getproviders.Provider) error {
	return fmt.Errorf("provider binary not found: could not find executable file starting with terraform-provider-%s", p.Type)
}
