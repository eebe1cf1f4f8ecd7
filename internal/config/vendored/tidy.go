package vendored

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// keepName is the file that makes git keep an empty directory.
const keepName = ".gitkeep"

// Untidy lists the paths in a module's package that Tidy would change, because git would not keep
// them or would change them: slash-separated, sorted, "." for the package as a whole. homes are the
// directories of modules in it.
func Untidy(ctx context.Context, dir string, homes []string) ([]string, error) {
	fixes, err := look(ctx, dir, homes)
	var names []string
	for _, f := range fixes {
		names = append(names, f.name)
	}
	return names, err
}

// Tidy makes git keep a module's package unchanged, and returns the paths that it changed, as
// Untidy does. A second call changes nothing.
func Tidy(ctx context.Context, dir string, homes []string) ([]string, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	var changed []string
	if info.Mode()&fs.ModeSymlink != 0 {
		if err := copyInPlace(ctx, dir); err != nil {
			return nil, err
		}
		changed = append(changed, ".")
	}
	fixes, err := look(ctx, dir, homes)
	if err != nil {
		return changed, err
	}
	for _, f := range fixes {
		if err := f.mend(filepath.Join(dir, filepath.FromSlash(f.name))); err != nil {
			return changed, err
		}
		changed = append(changed, f.name)
	}
	return changed, nil
}

// fix is a change to make.
type fix struct {
	name string
	mend func(path string) error
}

// look returns the changes to make, sorted.
func look(ctx context.Context, dir string, homes []string) ([]fix, error) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return []fix{{".", func(path string) error { return copyInPlace(ctx, path) }}}, err
	}
	fixes, files, err := walk(ctx, dir)
	if err != nil {
		return nil, err
	}
	full := map[string]bool{} // directories with a file in or below them
	for _, name := range files {
		for up := path.Dir(name); !full[up]; up = path.Dir(up) {
			full[up] = true
		}
	}
	for _, home := range homes {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(home))); err == nil && info.IsDir() && !full[path.Clean(home)] {
			fixes = append(fixes, fix{path.Join(home, keepName), func(path string) error { return os.WriteFile(path, nil, 0o644) }})
		}
	}
	more, err := obeyed(dir, files)
	fixes = append(fixes, more...)
	slices.SortFunc(fixes, func(a, b fix) int { return strings.Compare(a.name, b.name) })
	return fixes, err
}

// walk lists the files of a package, and the removals of version control data.
func walk(ctx context.Context, dir string) (fixes []fix, files []string, err error) {
	err = filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name, err := filepath.Rel(dir, at)
		name = filepath.ToSlash(name)
		switch {
		case isRepository(name):
			fixes = append(fixes, fix{name, patient.RemoveAll})
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir():
			files = append(files, name)
		}
		return err
	})
	return fixes, files, err
}

// isRepository reports whether a name belongs to version control. On case-insensitive systems
// ".GIT" is one, too.
func isRepository(name string) bool {
	return strings.EqualFold(path.Base(name), ".git") || name == ".hg"
}

// obeyed returns fixes for files that would make git ignore or change other files.
func obeyed(dir string, files []string) (fixes []fix, err error) {
	for _, name := range files {
		var b Block
		var harms func(line string) bool
		switch path.Base(name) {
		case ".gitignore":
			below := filesBelow(path.Dir(name), files)
			b, harms = ignoresNothing(), func(line string) bool {
				return slices.ContainsFunc(below, func(file string) bool { return mayIgnore(line, file) })
			}
		case ".gitattributes":
			b, harms = changesNothing(), changesFiles
		default:
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() { // git ignores symlinks
			continue
		}
		content, err := readGitFile(at)
		if err != nil {
			return nil, err
		}
		if _, blocks, _ := splitBlocks(string(content)); len(blocks) == 0 && !slices.ContainsFunc(slices.Collect(strings.Lines(string(content))), harms) {
			continue
		}
		if string(b.Merge(content)) != string(content) {
			fixes = append(fixes, fix{name, func(path string) error {
				_, err := b.Apply(path)
				return err
			}})
		}
	}
	return fixes, nil
}

// filesBelow returns the files in and below a directory, relative to it.
func filesBelow(dir string, files []string) (below []string) {
	for _, name := range files {
		if dir == "." {
			below = append(below, name)
		} else if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			below = append(below, rest)
		}
	}
	return below
}

// copyInPlace replaces a symlink to a directory with a copy of the directory.
func copyInPlace(ctx context.Context, symlink string) error {
	from, err := filepath.EvalSymlinks(symlink)
	if err != nil {
		return err
	}
	beside, err := filepath.EvalSymlinks(filepath.Dir(symlink))
	if err == nil {
		beside, err = filepath.Abs(beside)
	}
	if err != nil {
		return err
	}
	if inside, err := filepath.Rel(from, beside); err == nil && filepath.IsLocal(inside) {
		return fmt.Errorf("the module in %s is the directory %s, and a copy of that would be in itself", symlink, from)
	}
	stage, err := scratch.Make(beside)
	if err != nil {
		return err
	}
	defer stage.Remove()
	copied := filepath.Join(stage.Path, "package")
	if err := link.CopyTree(ctx, from, copied, true); err != nil {
		return err
	}
	if err := patient.Remove(symlink); err != nil {
		return err
	}
	return patient.Rename(copied, symlink)
}
