package disk

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// kindOf returns the type of the innermost mount that contains a directory.
func kindOf(dir string) string {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	table, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer table.Close()
	kind, longest := "", 0
	for lines := bufio.NewScanner(table); lines.Scan(); {
		before, after, found := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if !found || len(fields) < 5 {
			continue
		}
		point := unescaped(fields[4])
		// A later mount on the same point hides the earlier one.
		if isBelow(resolved, point) && len(point) >= longest {
			kind, _, _ = strings.Cut(after, " ")
			longest = len(point)
		}
	}
	return kind
}

func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// unescaped decodes the kernel's octal escapes of spaces and similar characters: \040.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
