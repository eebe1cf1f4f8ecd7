package vendored

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Ignores is the block for .gitignore of the working directory. Lines that name
// a directory are there because git looks at nothing below one that is ignored.
func Ignores() Block {
	return Block{
		Why: "What is vendored belongs into the repository.",
		Lines: []string{
			"!/.terraform/",
			"/.terraform/*",
			"!/.terraform/modules/",
			"!/.terraform/modules/**",
			"/.terraform/modules/.tfdeps-*",
			"!/terraform.d/",
			"!/terraform.d/vendor.json",
			"!/terraform.d/plugins/",
			"!/terraform.d/plugins/**",
			"/terraform.d/plugins/.tfdeps-*",
			"!/.terraform.lock.hcl",
			"!/.gitattributes",
			"!/.gitignore",
		},
	}
}

// asItIs are the attributes of files whose bytes must not change between a
// repository and a clone. The encoding can't be unset, only left unspecified.
const asItIs = " -text !eol !ident !working-tree-encoding"

// Attributes is the block for .gitattributes of the working directory. With lfs,
// archives of providers are kept by git LFS. It says nothing else of filters: if
// the user has some for all files, these are for vendored ones too.
func Attributes(lfs bool) Block {
	b := Block{
		Why: "What is vendored stays byte for byte what it is.",
		Lines: []string{
			"/.terraform/modules/**" + asItIs,
			"/terraform.d/vendor.json" + asItIs,
			"/terraform.d/plugins/**" + asItIs,
		},
	}
	if lfs {
		b.Lines = append(b.Lines, "/terraform.d/plugins/** filter=lfs diff=lfs merge=lfs")
	}
	return b
}

// The blocks for files in modules, of which git reads only what is in their own
// directory and below.
func ignoresNothing() Block {
	return Block{Why: "The module is vendored, with all its files.", Lines: []string{"!*"}}
}

func changesNothing() Block {
	return Block{Why: "The module is vendored as it is.", Lines: []string{"*" + asItIs + " !filter"}}
}

// The first and the last line of a block. The rest of the first is for people.
const (
	blockBegins = "# tfdeps vendor: begin"
	blockEnds   = "# tfdeps vendor: end"
)

// maxGitFileBytes is what git itself reads at most of such a file.
const maxGitFileBytes = 100 << 20

// Block is what belongs to us in a file that belongs to the user.
type Block struct {
	Why   string   // for people, in the first line
	Lines []string // none of them is one of the marks
}

// Merge returns the content of a file with the block at its end. A block that is
// there is replaced, and so are several. A block that is there as it should be,
// with nothing but comments and empty lines behind it, leaves the content as it is,
// whatever its line ends are, and be there none at the last line. The rest of the content doesn't change, but for empty
// lines at its end.
func (b Block) Merge(content []byte) []byte {
	rest, blocks, last := splitBlocks(string(content))
	own := b.text()
	if last && len(blocks) == 1 && blocks[0] == own {
		return content
	}
	if rest = strings.TrimRight(rest, "\r\n"); rest != "" {
		rest += "\n\n"
	}
	return []byte(rest + own)
}

// splitBlocks takes blocks out of a text, and returns them with "\n" at the ends of lines.
// last: nothing that git would obey comes behind them. A block without an end is
// none, as it isn't known how much of what follows was generated.
func splitBlocks(text string) (rest string, blocks []string, last bool) {
	var kept, open []string // open is the block that the line is in
	for line := range strings.Lines(text) {
		trimmed := strings.TrimRight(line, "\r\n")
		begins := strings.HasPrefix(trimmed, blockBegins)
		switch {
		case begins:
			if open != nil {
				kept, last = append(kept, open[1:]...), false
			}
			open = []string{line}
		case open != nil && trimmed == blockEnds:
			blocks = append(blocks, strings.ReplaceAll(strings.Join(open, ""), "\r\n", "\n")+blockEnds+"\n")
			open, last = nil, true
		case open != nil:
			open = append(open, line)
		default:
			kept = append(kept, line)
			last = last && (strings.TrimSpace(trimmed) == "" || strings.HasPrefix(trimmed, "#"))
		}
	}
	if open != nil {
		kept, last = append(kept, open[1:]...), false
	}
	return strings.Join(kept, ""), blocks, last
}

func (b Block) text() string {
	first := blockBegins
	if b.Why != "" {
		first += ". " + b.Why
	}
	return strings.Join(slices.Concat([]string{first}, b.Lines, []string{blockEnds}), "\n") + "\n"
}

// Outdated reports whether Apply would change a file, which needn't exist.
func (b Block) Outdated(path string) (bool, error) {
	content, err := readGitFile(path)
	return err == nil && !bytes.Equal(b.Merge(content), content), err
}

// Apply puts the block into a file, which is made if it isn't there, by one
// rename. changed: it wasn't as it should be.
func (b Block) Apply(path string) (changed bool, err error) {
	content, err := readGitFile(path)
	if err != nil {
		return false, err
	}
	merged := b.Merge(content)
	if bytes.Equal(merged, content) {
		return false, nil
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return true, wholefile.Write(path, merged, mode)
}

// readGitFile reads a file for git. Git follows no link there, so that what it
// leads to would be changed to no effect.
func readGitFile(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file, and git would not read it", path)
	}
	if err != nil {
		return nil, err
	}
	return wholefile.Read(path, maxGitFileBytes)
}
