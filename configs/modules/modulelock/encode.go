package modulelock

import (
	"bytes"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// header is what the file begins with.
const header = `# This file is maintained automatically by "tfdeps init -lock-modules".
# Manual edits may be lost in future updates.
`

// Encode returns the content of the file: the same bytes for the same locks.
func (l *Locks) Encode() []byte {
	out := bytes.NewBufferString(header)
	for _, lock := range l.All() {
		file := hclwrite.NewEmptyFile()
		body := file.Body().AppendNewBlock("module", []string{lock.Key}).Body()
		for _, argument := range []struct{ name, value string }{
			{"source", lock.Source},
			{"version", lock.Version},
			{"commit", lock.Commit},
			{"hash", string(lock.Hash)},
		} {
			if argument.value != "" {
				body.SetAttributeValue(argument.name, cty.StringVal(argument.value))
			}
		}
		out.WriteByte('\n')
		out.Write(hclwrite.Format(file.Bytes()))
	}
	return out.Bytes()
}
