// Package outline finds the parts of a directory's files that decide what is installed, so that later runs can parse only
// these while the files are unchanged.
//
//	parts, ok := outline.Of(files) // without any problem
//	file, ok := parser.ParseParts(src, parts[path], path)
package outline

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/internal/config/static"
)

// Of returns the parts of files by name; ok is false if one is in JSON. It leaves out outputs, and local values if no part refers
// to any; for resources without a provider argument, only the header is a part.
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
