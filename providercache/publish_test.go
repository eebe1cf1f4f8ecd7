package providercache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

// stageWith makes a stage with a package of one file.
func stageWith(t *testing.T, target *Store, content string) *staging {
	t.Helper()
	stage, err := target.stage()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stage.remove)
	writeTo(t, filepath.Join(stage.packagePath(), widgetFile), content)
	return stage
}

func writeTo(t *testing.T, path, content string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func hashOf(t *testing.T, dir string) getproviders.Hash {
	t.Helper()
	h1, err := getproviders.HashDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return h1
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestStageIsPrivateAndOutsideTheLayout(t *testing.T) {
	t.Parallel()
	target := &Store{Dir: filepath.Join(t.TempDir(), "a", "b")}
	stage := stageWith(t, target, "new")
	info, err := os.Stat(stage.dir)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(stage.dir) != target.Dir || filepath.Base(stage.dir)[0] != '.' {
		t.Errorf("the stage is %s", stage.dir)
	}
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the stage's mode is %v", info.Mode())
	}
	stage.remove()
	if _, err := os.Lstat(stage.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the stage is still there: %v", err)
	}
}

func TestPublishMakesParentsOnlyThen(t *testing.T) {
	t.Parallel()
	target := &Store{Dir: t.TempDir()}
	stage := stageWith(t, target, "new")
	final := filepath.Join(target.Dir, "x", "y", "z")
	if _, err := os.Lstat(filepath.Join(target.Dir, "x")); err == nil {
		t.Error("a parent exists already")
	}
	if err := stage.publish(t.Context(), final, hashOf(t, stage.packagePath())); err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, filepath.Join(final, widgetFile)); got != "new" {
		t.Errorf("published %q", got)
	}
}

func TestPublishThatFailsRemovesTheParentsItMade(t *testing.T) {
	t.Parallel()
	target := &Store{Dir: t.TempDir()}
	stage := stageWith(t, target, "new")
	if err := os.RemoveAll(stage.packagePath()); err != nil { // so that the rename fails
		t.Fatal(err)
	}
	if err := stage.publish(t.Context(), filepath.Join(target.Dir, "x", "y", "z"), "h1:"); err == nil {
		t.Error("no error")
	}
	if _, err := os.Lstat(filepath.Join(target.Dir, "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a parent is left: %v", err)
	}
}

func TestPublishAfterTheEndOfTheContextDoesNothing(t *testing.T) {
	t.Parallel()
	target := &Store{Dir: t.TempDir()}
	stage := stageWith(t, target, "new")
	ctx, cancel := contextWithCause(t)
	cancel(errStopped)
	final := filepath.Join(target.Dir, "x")
	if err := stage.publish(ctx, final, "h1:"); !errors.Is(err, errStopped) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(final); err == nil {
		t.Error("it was published")
	}
}

func TestReplaceWithAndWithoutExchange(t *testing.T) {
	t.Parallel()
	replacers := map[string]func(*staging, string) error{
		"as the system can": (*staging).replace,
		"by two renames":    (*staging).replaceByRenames,
	}
	for name, replace := range replacers {
		for kind, prepare := range map[string]func(t *testing.T, final string){
			"directory": func(t *testing.T, final string) { writeTo(t, filepath.Join(final, "stale"), "old") },
			"file":      func(t *testing.T, final string) { writeTo(t, final, "old") },
			"link": func(t *testing.T, final string) {
				if err := os.Symlink(t.TempDir(), final); err != nil {
					t.Skip("no symbolic links here")
				}
			},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				target := &Store{Dir: t.TempDir()}
				stage := stageWith(t, target, "new")
				final := filepath.Join(target.Dir, "final")
				prepare(t, final)
				if err := replace(stage, final); err != nil {
					t.Fatal(err)
				}
				entries, err := os.ReadDir(final)
				if err != nil || len(entries) != 1 || entries[0].Name() != widgetFile {
					t.Errorf("there is %v, %v", entries, err)
				}
				stage.remove()
				if left, _ := os.ReadDir(target.Dir); len(left) != 1 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}

func TestReplaceByRenamesPutsBackWhatItCantReplace(t *testing.T) {
	t.Parallel()
	target := &Store{Dir: t.TempDir()}
	stage := stageWith(t, target, "new")
	final := filepath.Join(target.Dir, "final")
	writeTo(t, filepath.Join(final, "old"), "old")
	if err := os.RemoveAll(stage.packagePath()); err != nil {
		t.Fatal(err)
	}
	if err := stage.replaceByRenames(final); err == nil {
		t.Error("no error")
	}
	if got := contentOf(t, filepath.Join(final, "old")); got != "old" {
		t.Errorf("there is %q", got)
	}
}

func TestStageMakesItsGroundAgain(t *testing.T) {
	t.Parallel()
	target := &Store{Dir: filepath.Join(t.TempDir(), "a", "b")}
	for range 3 {
		stage, err := target.stage()
		if err != nil {
			t.Fatal(err)
		}
		stage.remove()
		removeEmpty([]string{filepath.Dir(target.Dir), target.Dir}) // as another run does that failed
		if _, err := os.Stat(filepath.Dir(target.Dir)); err == nil {
			t.Fatal("the ground is still there")
		}
	}
}

func TestMakeDirsReturnsWhatItMade(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	a := filepath.Join(root, "a")
	abc := filepath.Join(a, "b", "c")
	made, err := makeDirs(abc)
	if want := []string{a, filepath.Join(a, "b"), abc}; err != nil || !slices.Equal(made, want) {
		t.Fatalf("made %q, %v; want %q", made, err, want)
	}
	if again, err := makeDirs(abc); err != nil || len(again) != 0 {
		t.Errorf("made %q, %v the second time", again, err)
	}
	writeTo(t, filepath.Join(a, "file"), "")
	removeEmpty(made)
	if _, err := os.Stat(filepath.Join(a, "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty directory is left: %v", err)
	}
	if _, err := os.Stat(a); err != nil {
		t.Errorf("a directory that isn't empty was removed: %v", err)
	}
	if _, err := makeDirs(filepath.Join(a, "file", "x")); err == nil {
		t.Error("made a directory in a file")
	}
}

// Who opens a package while it is exchanged finds the old one or the new one.
func TestAnExchangeLeavesNoGap(t *testing.T) {
	t.Parallel()
	target := &Store{Dir: t.TempDir()}
	final := filepath.Join(target.Dir, "final")
	writeTo(t, filepath.Join(final, widgetFile), "old")
	probe := stageWith(t, target, "new")
	if err := exchange(probe.packagePath(), final); err != nil {
		t.Skipf("two at once can't be exchanged here: %v", err)
	}
	probe.remove()
	done, missing := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-done:
				missing <- n
				return
			default:
			}
			if _, err := os.Lstat(filepath.Join(final, widgetFile)); err != nil {
				n++
			}
		}
	}()
	for range 200 {
		stage := stageWith(t, target, "new")
		if err := stage.replace(final); err != nil {
			t.Error(err)
		}
		stage.remove()
	}
	close(done)
	if n := <-missing; n > 0 {
		t.Errorf("it was missing %d times", n)
	}
}

// A link in a package's place isn't the package, even if it leads to the same
// files: who owns these could change them later.
func TestALinkToTheSameFilesIsReplaced(t *testing.T) {
	t.Parallel()
	target := &Store{Dir: t.TempDir()}
	stage := stageWith(t, target, "new")
	defer stage.remove()
	h1, err := getproviders.HashDir(t.Context(), stage.packagePath())
	must(t, err)
	elsewhere, final := filepath.Join(t.TempDir(), "package"), filepath.Join(target.Dir, "final")
	must(t, os.CopyFS(elsewhere, os.DirFS(stage.packagePath())))
	linkOrSkip(t, elsewhere, final)
	must(t, stage.publish(t.Context(), final, h1))
	if info, err := os.Lstat(final); err != nil || !info.IsDir() {
		t.Errorf("there is %v, %v", info, err)
	}
}
