package vendorcmd

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/internal/config/vendored"
)

// gitFile is a file of the user's in which tfdeps keeps a block.
type gitFile struct {
	name  string
	block vendored.Block
}

func gitFiles(lfs bool) []gitFile {
	return []gitFile{{".gitignore", vendored.Ignores()}, {".gitattributes", vendored.Attributes(lfs)}}
}

// writeGitFiles has git keep what is vendored. A bundle needs nothing of that.
func writeGitFiles(r request, lfs bool) bool {
	if !r.here() {
		return true
	}
	ok := true
	for _, file := range gitFiles(lfs) {
		changed, err := file.block.Apply(file.name)
		if err != nil {
			ok = r.log.Failed("unwritable", "Failed to tell git what to keep", err)
		} else if changed {
			r.view.Changed(file.name)
		}
	}
	return ok
}

// What services for git repositories say of large files, in bytes: there is a
// warning above the first, and above the second nothing is accepted.
const (
	largeFile   = 50_000_000
	refusedFile = 100_000_000
)

// hint names what git, or another machine, may not be able to keep.
func hint(r request, lfs bool) bool {
	files, err := vendored.Files(r.base, vendored.Places())
	if err != nil {
		return r.log.Failed("vendored", "Failed to read what is vendored", err)
	}
	var large, outside []string
	refused := false
	for _, f := range files {
		if f.Size > largeFile {
			large = append(large, fmt.Sprintf("  - %s (%d MB)", f.Name, f.Size/1e6))
			refused = refused || f.Size > refusedFile
		}
	}
	for _, f := range vendored.Outside(files) {
		outside = append(outside, fmt.Sprintf("  - %s leads to %s", f.Name, f.Link))
	}
	if len(large) > 0 && !lfs {
		text := "Some services warn of files above 50 MB, and accept none above 100 MB"
		if refused {
			text += ", which there are"
		}
		r.log.Warningf("", "Large files", "%s. With -lfs, .gitattributes has git LFS keep the packages of providers; "+
			"it has to be installed wherever the repository is cloned.\n\n%s", text, strings.Join(large, "\n"))
	}
	if colliding := vendored.Colliding(files); len(colliding) > 0 {
		r.log.Warningf("", "Names that differ in case alone",
			"Where case doesn't matter, as is usual on macOS and Windows, a clone lacks files: the name of %s is another one's. If it is about names of modules, rename one in the configuration.", colliding[0].Name)
	}
	if len(outside) > 0 {
		r.log.Warningf("", "Links out of the vendored modules", "They are kept as they are, and may lead nowhere in a clone:\n\n%s", strings.Join(outside, "\n"))
	}
	return true
}
