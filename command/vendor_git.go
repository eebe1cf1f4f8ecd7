package command

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
)

// gitFile is a file of the user's in which a block is ours.
type gitFile struct {
	name  string
	block vendored.Block
}

func (r *vendorRun) gitFiles() []gitFile {
	return []gitFile{{".gitignore", vendored.Ignores()}, {".gitattributes", vendored.Attributes(r.record.LFS)}}
}

// saveRecord writes down what has been vendored.
func (r *vendorRun) saveRecord() view.Problems {
	if err := r.record.Save(r.base); err != nil {
		return view.Problems{view.NewError("Failed to record what is vendored", sentence(err))}
	}
	return nil
}

// writeGitFiles has git keep what is vendored. A bundle needs nothing of that.
func (r *vendorRun) writeGitFiles() (problems view.Problems) {
	if r.base != "." {
		return nil
	}
	for _, file := range r.gitFiles() {
		changed, err := file.block.Apply(file.name)
		if err != nil {
			problems = append(problems, view.NewError("Failed to tell git what to keep", sentence(err)))
		} else if changed {
			r.view.Changed(file.name)
		}
	}
	return problems
}

// What services for git repositories say of large files, in bytes: there is a
// warning above the first, and above the second nothing is accepted.
const (
	largeFile   = 50 << 20
	refusedFile = 100 << 20
)

// hint tells of what git, or another machine, may not be able to keep.
func (r *vendorRun) hint() (problems view.Problems) {
	files, err := vendored.Files(r.base, vendored.Places())
	if err != nil {
		return view.Problems{view.NewError("Failed to read what is vendored", sentence(err))}
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
	if len(large) > 0 && !r.record.LFS {
		text := "Some services warn of files above 50 MiB, and accept none above 100 MiB"
		if refused {
			text += ", which there are"
		}
		problems = append(problems, view.NewWarning("Large files", text+". With -lfs, .gitattributes has git LFS keep the packages of providers; "+
			"it has to be installed wherever the repository is cloned.\n\n"+strings.Join(large, "\n")))
	}
	if colliding := vendored.Colliding(files); len(colliding) > 0 {
		problems = append(problems, view.NewWarning("Names that differ in case alone", fmt.Sprintf(
			"Where case doesn't matter, as is usual on macOS and Windows, a clone lacks files: the name of %s is another one's. If it is about names of modules, rename one in the configuration.", colliding[0].Name)))
	}
	if len(outside) > 0 {
		problems = append(problems, view.NewWarning("Links out of the vendored modules",
			"They are kept as they are, and may lead nowhere in a clone:\n\n"+strings.Join(outside, "\n")))
	}
	return problems
}
