package peertest

import (
	"os"
	"path/filepath"
	"runtime"
)

// TestWithEnd is a test that cleans up when it ends.
type TestWithEnd interface {
	Test
	Cleanup(func())
}

// maxSocketDir is how long the path of a directory may be that programs make sockets in. The path of a socket has at most 107
// bytes, and Chromium adds 46 to its directory, a provider's plugin 17.
const maxSocketDir = 60

// PublicDir makes a directory that every user of the machine can enter, and none but this one can write to, with room for sockets. It
// removes the directory after the test. t.TempDir() promises none of this: TMPDIR may belong to one user alone or to all, and its path
// may be long. The directory is below TMPDIR if that will do, otherwise in /tmp.
func PublicDir(t TestWithEnd) string {
	t.Helper()
	base := os.TempDir()
	if !isPublic(base) && runtime.GOOS != "windows" {
		base = "/tmp"
	}

	dir, err := os.MkdirTemp(base, "t")
	if err != nil {
		t.Fatalf("a test needs a directory that all users can enter: %v", err)
		return ""
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	return dir
}

// isPublic reports whether a directory in dir is as PublicDir promises it.
func isPublic(dir string) bool {
	const newName = "/t1234567890"
	if len(dir)+len(newName) > maxSocketDir {
		return false
	}

	for {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}

		canEnter := info.Mode()&0o001 != 0
		canReplace := info.Mode()&0o022 != 0 && info.Mode()&os.ModeSticky == 0
		if !canEnter || canReplace {
			return false
		}

		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}
