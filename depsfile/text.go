package depsfile

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// What a lock file for anything else has in common with the one for providers
// is exported here.

// DecodeBlocks parses the text of a lock file and has its blocks decoded, as
// many of them as there are. All problems are returned; if version control left
// the marks of a merge conflict behind, that one alone.
func DecodeBlocks(src []byte, filename string, schema *hcl.BodySchema, decode func(hcl.Blocks) hcl.Diagnostics) hcl.Diagnostics {
	if diag := checkNesting(src, filename); diag != nil {
		return hcl.Diagnostics{diag}
	}
	file, diags := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	if file != nil {
		content, more := file.Body.Content(schema)
		diags = append(diags, more...)
		diags = append(diags, decode(content.Blocks)...)
	}
	if conflict := findConflict(src, filename); conflict != nil && diags.HasErrors() {
		// What else is wrong with the file is a consequence.
		return hcl.Diagnostics{conflict}
	}
	return diags
}

// Problem returns an error about a place in a lock file.
func Problem(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at}
}

// maxTextBytes is a thousand times what the largest lock files have.
const maxTextBytes = 256 << 20

// ReadText reads a regular file, or what a link to one leads to.
func ReadText(path string) ([]byte, error) { return wholefile.Read(path, maxTextBytes) }

// SaveText writes a file by one rename, if it hasn't that content already. A
// symlink is replaced. The file's mode is 0644. After a loss of power, too, there
// is the old file or the new one, and never half of one: all later runs trust it.
func SaveText(path string, content []byte) error {
	if wholefile.Has(path, content) {
		return nil
	}
	return wholefile.WriteDurably(path, content, 0o644)
}
