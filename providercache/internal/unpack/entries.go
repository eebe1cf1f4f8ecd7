package unpack

import (
	"cmp"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
)

const (
	// ratioFrom is the unpacked size from which the ratio counts: less does no harm.
	ratioFrom = 64 << 20
	maxRatio  = 200
)

// entry is an entry of an archive that keeps the rules.
type entry struct {
	File *zip.File
	Name string // relative to the package's directory, clean, with slashes
	Dir  bool
}

// readEntries reads the archive's central directory and applies all
// rules that need only that. The zero Provider stands for any.
func readEntries(r io.ReaderAt, size int64, p getproviders.Provider, limits Limits) ([]entry, directory, error) {
	archive, dir, err := openZip(r, size, limits.Files)
	if err != nil {
		return nil, dir, err
	}
	entries, err := checkEntries(archive, dir, size, p, limits)
	return entries, dir, err
}

func checkEntries(archive *zip.Reader, dir directory, size int64, p getproviders.Provider, limits Limits) ([]entry, error) {
	if len(archive.File) == 0 {
		return nil, broken(RuleEntries, "it is empty")
	}
	tree := names{max: limits.Files}
	var entries []entry
	for _, file := range archive.File {
		e, err := readEntry(file)
		if err == nil {
			err = tree.add(e)
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if err := checkSizes(entries, size, limits.Bytes); err != nil {
		return nil, err
	}
	if err := checkData(entries, dir.from); err != nil {
		return nil, err
	}
	isExecutable := func(e entry) bool {
		return !e.Dir && !strings.Contains(e.Name, "/") && (layout.ExecutableName(p, e.Name) || p.Type == "" && isAnyExecutable(e.Name))
	}
	if !slices.ContainsFunc(entries, isExecutable) {
		return nil, broken(RuleExecutable, "%v", errNoExecutable(p))
	}
	return entries, nil
}

// isAnyExecutable reports whether a name is that of any provider's executable.
func isAnyExecutable(name string) bool {
	rest, ok := strings.CutPrefix(name, layout.ExecutablePrefix)
	return ok && strings.IndexAny(rest+"_", "_.") > 0
}

func readEntry(file *zip.File) (entry, error) {
	name, err := cleanName(file)
	if err != nil {
		return entry{}, err
	}
	return entry{File: file, Name: name, Dir: file.Mode().IsDir()}, checkKind(file)
}

// encrypted has the flags that mean encryption: by password, by certificate, of the directory.
const encrypted = 1<<0 | 1<<6 | 1<<13

func checkKind(file *zip.File) error {
	switch kind := file.Mode().Type(); {
	case kind&fs.ModeSymlink != 0:
		return breaks(file, RuleKind, "is a symbolic link")
	case kind != 0 && kind != fs.ModeDir:
		return breaks(file, RuleKind, "is neither a file nor a directory")
	case kind == fs.ModeDir && file.UncompressedSize64 != 0:
		return breaks(file, RuleKind, "is a directory with content")
	case file.Flags&encrypted != 0:
		return breaks(file, RuleMethod, "is encrypted")
	case file.Method != zip.Store && file.Method != zip.Deflate:
		return breaks(file, RuleMethod, "is compressed by the unknown method %d", file.Method)
	}
	return nil
}

// checkSizes checks the sizes in the directory. Inflating checks that they are true.
func checkSizes(entries []entry, size, limit int64) error {
	var total uint64
	for _, e := range entries {
		total += min(e.File.UncompressedSize64, uint64(limit)+1) // the sum can't overflow
		if total > uint64(limit) {
			return breaks(e.File, RuleSize, "makes the package larger than %d bytes", limit)
		}
	}
	if total > ratioFrom && total/maxRatio > uint64(size) {
		return broken(RuleSize, "it would unpack to more than 200 times its size")
	}
	return nil
}

// checkData makes sure that no two entries share bytes, because an archive could then unpack to
// far more than it seems to. All data has to be before the directory, which begins at end.
func checkData(entries []entry, end int64) error {
	type span struct {
		file     *zip.File
		from, to int64
	}
	var spans []span
	for _, e := range entries {
		from, err := e.File.DataOffset()
		if err != nil {
			return breaks(e.File, RuleData, "has no header of its own: %v", err)
		}
		if from > end || e.File.CompressedSize64 > uint64(end-from) {
			return breaks(e.File, RuleData, "goes beyond the end of the archive's data")
		}
		spans = append(spans, span{e.File, from, from + int64(e.File.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for i := 1; i < len(spans); i++ {
		if header := spans[i].from - localHeader - int64(len(spans[i].file.Name)); header < spans[i-1].to {
			return breaks(spans[i].file, RuleData, "overlaps with entry %q", spans[i-1].file.Name)
		}
	}
	return nil
}
