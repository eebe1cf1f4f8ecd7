//go:build !windows

package terminal

import "os"

// understandsEscapes returns true, because all terminals of these systems have escape sequences.
func understandsEscapes(*os.File) bool { return true }
