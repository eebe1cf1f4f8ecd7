package depsfile

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Encode returns the exact bytes that the real tool writes: a header that
// names the product's program, then one block for each provider, in order. The
// hashes of each are sorted, without duplicates, one in a line.
func (l *Locks) Encode(product getproviders.Product) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# This file is maintained automatically by %q.\n", product.Program+" init")
	out.WriteString("# Manual edits may be lost in future updates.\n")
	for _, lock := range l.All() {
		encodeLock(&out, lock)
	}
	return out.Bytes()
}

// encodeLock writes a block. Neighbouring lines have their equals signs one
// below the other; a value that takes several lines is no neighbour.
func encodeLock(out *bytes.Buffer, lock Lock) {
	fmt.Fprintf(out, "\nprovider %s {\n", quote(lock.Provider.String()))
	if lock.Constraints.IsEmpty() {
		fmt.Fprintf(out, "  version = %s\n", quote(lock.Version.String()))
	} else {
		fmt.Fprintf(out, "  version     = %s\n", quote(lock.Version.String()))
		fmt.Fprintf(out, "  constraints = %s\n", quote(lock.Constraints.String()))
	}
	if len(lock.Hashes) > 0 {
		out.WriteString("  hashes = [\n")
		for _, hash := range getproviders.SortHashes(lock.Hashes) {
			fmt.Fprintf(out, "    %s,\n", quote(string(hash)))
		}
		out.WriteString("  ]\n")
	}
	out.WriteString("}\n")
}

// quote escapes as HCL wants it: a hash that somebody typed may hold anything.
func quote(s string) []byte {
	return hclwrite.TokensForValue(cty.StringVal(s)).Bytes()
}
