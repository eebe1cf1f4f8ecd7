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

// Ignores returns the block for .gitignore in the working directory. It has lines for parent
// directories, too, because git reads nothing below an ignored directory.
func Ignores() Block {
	return Block{
		Why: "What is vendored belongs in the repository.",
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

// asItIs are the attributes of files whose bytes must be the same in the repository and in a clone.
// The encoding can't be unset, only left unspecified.
const asItIs = " -text !eol !ident !working-tree-encoding"

// Attributes returns the block for .gitattributes in the working directory. With lfs, git LFS keeps
// archives of providers. It doesn't change other filters: the user's filters for all files apply to
// vendored files, too.
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

// Blocks for files in modules, which apply to their own directory and below.
func ignoresNothing() Block {
	return Block{Why: "The module is vendored, with all its files.", Lines: []string{"!*"}}
}

func changesNothing() Block {
	return Block{Why: "The module is vendored as it is.", Lines: []string{"*" + asItIs + " !filter"}}
}

// The marks at the first and the last line of a block. The first line also has a text for people.
const (
	blockBegins = "# tfdeps vendor: begin"
	blockEnds   = "# tfdeps vendor: end"
)

// maxGitFileBytes is the largest such file that git itself reads.
const maxGitFileBytes = 100 << 20

// Block is our part of a file that belongs to the user.
type Block struct {
	Why   string   // for people, in the first line
	Lines []string // none of them is a mark
}

// Merge returns the content of a file with the block at its end. It replaces existing blocks. It returns the content
// unchanged if the block is there already with only comments and empty lines after it, whatever the line ends. Except
// for empty lines at its end, the rest of the content doesn't change.
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

// splitBlocks cuts blocks out of a text, and returns them with "\n" as line ends. last says that
// only comments and empty lines follow the blocks. A block without an end mark isn't cut out,
// because it is unknown how much of the text was generated.
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

// Apply writes the block into a file by a rename, and creates the file if necessary. changed
// reports whether the file changed.
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

// readGitFile reads a .gitignore or .gitattributes. It refuses symlinks, because git ignores them,
// and a change would have no effect.
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
