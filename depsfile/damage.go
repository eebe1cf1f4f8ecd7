package depsfile

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
)

// findConflict returns an error about the first line that version control
// left behind in a merge conflict, or nil.
func findConflict(src []byte, filename string) *hcl.Diagnostic {
	offset, number := 0, 1
	for line := range bytes.Lines(src) {
		if bytes.HasPrefix(line, []byte("<<<<<<<")) || bytes.HasPrefix(line, []byte(">>>>>>>")) {
			text := bytes.TrimRight(line, "\r\n")
			return &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Argument or block definition required",
				Detail:   "This line was left behind by a merge conflict. Settle the conflict in your version control, or delete this file and initialize again to have it made anew.",
				Subject: &hcl.Range{
					Filename: filename,
					Start:    hcl.Pos{Line: number, Column: 1, Byte: offset},
					End:      hcl.Pos{Line: number, Column: len(text) + 1, Byte: offset + len(text)},
				},
			}
		}
		offset += len(line)
		number++
	}
	return nil
}

// maxNesting is far above what a lock file needs, which is 2.
const maxNesting = 1000

// checkNesting refuses what would make the parser call itself so often that
// the program's stack overflows, which nothing could catch. It counts
// characters without knowing what is text and what is comment, since a real
// lock file has just a few of them anywhere.
func checkNesting(src []byte, filename string) *hcl.Diagnostic {
	open, signs, choices := 0, 0, 0
	for i, c := range src {
		switch c {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(open-1, 0)
		case '!', '-':
			signs++
		case '?', '%':
			choices++
		case ' ', '\t', '\r', '\n':
		default:
			signs = 0
		}
		if max(open, signs, choices) > maxNesting {
			line := bytes.Count(src[:i], []byte("\n")) + 1
			at := hcl.Pos{Line: line, Column: i - bytes.LastIndexByte(src[:i], '\n'), Byte: i}
			return &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Invalid expression",
				Detail:   "This is nested too deeply for a dependency lock file. Delete the file and initialize again to have it made anew.",
				Subject:  &hcl.Range{Filename: filename, Start: at, End: at},
			}
		}
	}
	return nil
}
