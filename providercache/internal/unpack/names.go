package unpack

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/internal/layout"
)

// maxName is how long the name of an entry may be, in bytes. File
// systems allow less for each part and little more for a whole path.
const maxName = 1000

// cleanName checks an entry's name and returns it without "./",
// double slashes, and the slash at the end of a directory's name.
func cleanName(file *zip.File) (string, error) {
	name := file.Name
	switch {
	case !utf8.ValidString(name):
		return "", breaks(file, RuleNameText, "has a name that is not UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", breaks(file, RuleNameText, "has a control character in its name")
	case len(name) > maxName:
		return "", breaks(file, RuleNameText, "has a name of more than %d bytes", maxName)
	case strings.HasPrefix(name, "/"):
		return "", breaks(file, RuleNamePath, "has an absolute path")
	case strings.Contains(name, `\`):
		return "", breaks(file, RuleNamePath, "has a backslash in its name")
	case len(name) >= 2 && name[1] == ':':
		return "", breaks(file, RuleNamePath, "has a drive letter in its name")
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", breaks(file, RuleNamePath, "has \"..\" in its path")
	}
	clean := path.Clean(name)
	if !filepath.IsLocal(filepath.FromSlash(clean)) || runtime.GOOS == "windows" && clean != "." && layout.WindowsRefuses(clean) { // "nul", or "a:b", which is a stream of the file a
		return "", breaks(file, RuleNamePath, "has a name that means something else on this system")
	}
	if clean == "." && !file.Mode().IsDir() {
		return "", breaks(file, RuleNamePath, "has no name")
	}
	return clean, nil
}

// names is the tree of an archive's entries.
type names struct {
	max   int
	nodes map[nodeKey]*node
}

// nodeKey identifies a node by its name, ignoring case.
type nodeKey struct {
	parent *node
	folded string
}

type node struct {
	spelling string
	dir      bool
	listed   bool // the archive has an entry for it
}

// add puts an entry and its parent directories into the tree.
func (t *names) add(e entry) error {
	var at *node
	rest := e.Name
	for rest != "" {
		name, more, _ := strings.Cut(rest, "/")
		last := more == ""
		var err error
		if at, err = t.put(e.File, at, node{spelling: name, dir: !last || e.Dir, listed: last}); err != nil {
			return err
		}
		rest = more
	}
	return nil
}

func (t *names) put(file *zip.File, parent *node, n node) (*node, error) {
	key := nodeKey{parent, strings.Map(foldRune, n.spelling)}
	have, taken := t.nodes[key]
	switch {
	case !taken && len(t.nodes) >= t.max:
		return nil, breaks(file, RuleEntries, "is more than the %d files and directories that a package may have", t.max)
	case !taken:
		if t.nodes == nil {
			t.nodes = make(map[nodeKey]*node)
		}
		t.nodes[key] = &n
		return &n, nil
	case have.spelling != n.spelling:
		return nil, breaks(file, RuleUnique, "has another spelling of %q in its path", have.spelling)
	case have.dir != n.dir:
		return nil, breaks(file, RuleTree, "needs %q to be both a file and a directory", n.spelling)
	case have.listed && n.listed:
		return nil, breaks(file, RuleUnique, "is there twice")
	}
	have.listed = have.listed || n.listed
	return have, nil
}

// foldRune returns the same rune for all runes that differ only in case.
func foldRune(r rune) rune {
	folded := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		folded = min(folded, other)
	}
	return folded
}
