// Package outline finds what of the files of a directory decides what is installed, so that later runs parse nothing else of
// them as long as they are the same.
//
//	parts, ok := outline.Of(files) // which have no problem at all
//	file, ok := parser.ParseParts(src, parts[path], path)
package outline

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// Of returns the parts of files, by their names; ok is false if one is in JSON. Outputs are left out, and so are local values if no
// part refers to any; of resources that name no provider, only the header is a part.
func Of(files map[string]*hcl.File) (parts map[string][]static.Part, ok bool) {
	parts = map[string][]static.Part{}
	locals, refers := map[string][]static.Part{}, false
	for name, file := range files {
		body, ok := file.Body.(*hclsyntax.Body)
		if !ok {
			return nil, false
		}
		parts[name] = []static.Part{}
		for _, block := range body.Blocks {
			part := static.Part{At: block.Range().Start, End: block.Range().End.Byte}
			text := string(file.Bytes[part.At.Byte:part.End])
			switch {
			case block.Type == "output":
				continue
			case block.Type == "locals":
				locals[name] = append(locals[name], part)
				continue
			case (block.Type == "resource" || block.Type == "data") && !strings.Contains(text, "provider"):
				part.End, part.Header = block.OpenBraceRange.End.Byte, true
			default:
				refers = refers || strings.Contains(text, "local")
			}
			parts[name] = append(parts[name], part)
		}
	}
	if refers {
		for name := range locals {
			parts[name] = append(parts[name], locals[name]...)
		}
	}
	return parts, true
}
