package staging

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// stageWith makes a stage with a package of one file.
func stageWith(t *testing.T, target string, content string) *Stage {
	t.Helper()
	stage := must.Get(New(target))(t)
	t.Cleanup(stage.Remove)
	cachetest.WriteTo(t, filepath.Join(stage.PackagePath(), cachetest.WidgetFile), content)
	return stage
}

func TestStage_IsPrivateAndOutsideTheLayout(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "a", "b")
	stage := stageWith(t, target, "new")
	info := must.Get(os.Stat(stage.dir))(t)
	if filepath.Dir(stage.dir) != target || filepath.Base(stage.dir)[0] != '.' {
		t.Errorf("the stage is %s", stage.dir)
	}
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the stage's mode is %v", info.Mode())
	}
	stage.Remove()
	must.Fail(t, must.ErrorOf(os.Lstat(stage.dir)), fs.ErrNotExist)
}

func TestStage_PublishMakesParentsOnlyThen(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	stage := stageWith(t, target, "new")
	final := filepath.Join(target, "x", "y", "z")
	must.Refuse(os.Lstat(filepath.Join(target, "x")))(t, "a parent exists already")
	must.Get(stage.Publish(t.Context(), final, cachetest.HashOf(t, stage.PackagePath())))(t)
	must.Equal(t, cachetest.ContentOf(t, filepath.Join(final, cachetest.WidgetFile)), "new")
}

func TestStage_PublishThatFailsRemovesTheParentsItMade(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	stage := stageWith(t, target, "new")
	must.Succeed(t, os.RemoveAll(stage.PackagePath())) // so that the rename fails
	must.Refuse(stage.Publish(t.Context(), filepath.Join(target, "x", "y", "z"), "h1:"))(t, "no error")
	must.Fail(t, must.ErrorOf(os.Lstat(filepath.Join(target, "x"))), fs.ErrNotExist)
}

func TestStage_PublishAfterTheEndOfTheContextDoesNothing(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	stage := stageWith(t, target, "new")
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	final := filepath.Join(target, "x")
	must.Fail(t, must.ErrorOf(stage.Publish(ctx, final, "h1:")), cachetest.ErrStopped)
	must.Refuse(os.Lstat(final))(t, "it was published")
}

func TestStage_ReplaceWithAndWithoutExchange(t *testing.T) {
	t.Parallel()
	replacers := map[string]func(*Stage, string) error{
		"as the system can": (*Stage).replace,
		"by two renames":    (*Stage).replaceByRenames,
	}
	for name, replace := range replacers {
		for kind, prepare := range map[string]func(t *testing.T, final string){
			"directory": func(t *testing.T, final string) { cachetest.WriteTo(t, filepath.Join(final, "stale"), "old") },
			"file":      func(t *testing.T, final string) { cachetest.WriteTo(t, final, "old") },
			"link":      func(t *testing.T, final string) { cachetest.LinkOrSkip(t, t.TempDir(), final) },
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				target := t.TempDir()
				stage := stageWith(t, target, "new")
				final := filepath.Join(target, "final")
				prepare(t, final)
				must.Succeed(t, replace(stage, final))
				entries := must.Get(os.ReadDir(final))(t)
				must.Len(t, entries, 1)
				must.Equal(t, entries[0].Name(), cachetest.WidgetFile)
				stage.Remove()
				if left, _ := os.ReadDir(target); len(left) != 1 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
	t.Run("a reader finds the old one or the new one", func(t *testing.T) {
		target := t.TempDir()
		final := filepath.Join(target, "final")
		cachetest.WriteTo(t, filepath.Join(final, cachetest.WidgetFile), "old")
		if err := exchange(stageWith(t, target, "new").PackagePath(), final); err != nil {
			t.Skipf("two at once can't be exchanged here: %v", err)
		}
		var done atomic.Bool
		var reading sync.WaitGroup
		reading.Go(func() {
			for !done.Load() && !t.Failed() {
				must.Equal(t, must.ErrorOf(os.Lstat(filepath.Join(final, cachetest.WidgetFile))), nil)
			}
		})
		for range 200 {
			stage := stageWith(t, target, "new")
			must.Equal(t, stage.replace(final), nil)
			stage.Remove()
		}
		done.Store(true)
		reading.Wait()
	})
}

func TestStage_ReplaceByRenamesPutsBackWhatItCantReplace(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	stage := stageWith(t, target, "new")
	final := filepath.Join(target, "final")
	cachetest.WriteTo(t, filepath.Join(final, "old"), "old")
	must.Succeed(t, os.RemoveAll(stage.PackagePath()))
	must.Refuse(stage.replaceByRenames(final))(t, "no error")
	must.Equal(t, cachetest.ContentOf(t, filepath.Join(final, "old")), "old")
}

func TestStage_MakesItsGroundAgain(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "a", "b")
	for range 3 {
		stage := must.Get(New(target))(t)
		stage.Remove()
		scratch.RemoveEmpty([]string{filepath.Dir(target), target}) // as another run does that has failed
		must.Refuse(os.Stat(filepath.Dir(target)))(t, "the ground is still there")
	}
}

// The same package stays: programs may run from it. The same link stays, too, and another one is replaced.
func TestStage_AdoptsThePackageThatIsThere(t *testing.T) {
	t.Parallel()
	never := func(getproviders.Hash) bool { return false }
	target := t.TempDir()
	final := filepath.Join(target, "final")
	cachetest.WriteTo(t, filepath.Join(final, cachetest.WidgetFile), "same")
	stage := stageWith(t, target, "same")
	if adopted, err := stage.Offer(t.Context(), final, cachetest.HashOf(t, stage.PackagePath()), never); err != nil || !adopted {
		t.Errorf("the same files: adopted %v, %v", adopted, err)
	}
	stage = stageWith(t, target, "other")
	if adopted, err := stage.Offer(t.Context(), final, cachetest.HashOf(t, stage.PackagePath()), never); !errors.Is(err, ErrTaken) || adopted {
		t.Errorf("other files: adopted %v, %v", adopted, err)
	}
}

// A link may come with a repository, or from whoever can write to a cache.
func TestStage_Links(t *testing.T) {
	t.Parallel()
	target, elsewhere := t.TempDir(), t.TempDir()
	file, precious := filepath.Join(elsewhere, "same", cachetest.WidgetFile), filepath.Join(elsewhere, "namespace", "type", "precious")
	link, final := filepath.Join(target, "host"), filepath.Join(target, "final")
	cachetest.WriteTo(t, file, "new")
	cachetest.WriteTo(t, precious, "not a package")
	cachetest.LinkOrSkip(t, elsewhere, link)
	cachetest.LinkOrSkip(t, filepath.Dir(file), final)
	stage := stageWith(t, target, "new")
	h1 := cachetest.HashOf(t, stage.PackagePath())
	t.Run("nothing is replaced through one above the package", func(t *testing.T) {
		_, err := stage.Publish(t.Context(), filepath.Join(link, "namespace", "type"), h1)
		must.Equal(t, must.As[*scratch.LinkError](t, err).Link, link)
		must.Equal(t, cachetest.ContentOf(t, precious), "not a package")
	})
	// Whoever owns the files that it leads to could change them later.
	t.Run("one to the same files is replaced", func(t *testing.T) {
		must.Get(stage.Publish(t.Context(), final, h1))(t)
		must.Equal(t, must.Get(os.Lstat(final))(t).IsDir(), true)
		must.Equal(t, cachetest.ContentOf(t, file), "new")
	})
	t.Run("the same one stays, another one is replaced", func(t *testing.T) {
		never := func(getproviders.Hash) bool { return false }
		for leadsTo, same := range map[string]bool{elsewhere: true, target: false} {
			stage := must.Get(New(target))(t)
			t.Cleanup(stage.Remove)
			cachetest.LinkOrSkip(t, leadsTo, stage.PackagePath())
			if adopted, err := stage.Offer(t.Context(), link, "", never); adopted != same || errors.Is(err, ErrTaken) == same {
				t.Errorf("a link to %s: adopted %v, %v", leadsTo, adopted, err)
			}
		}
	})
	t.Run("times behind one stay", func(t *testing.T) {
		stage, now := stageWith(t, target, "new"), time.Now()
		page := filepath.Join(stage.PackagePath(), "docs", "page")
		cachetest.WriteTo(t, page, "x")
		cachetest.LinkOrSkip(t, file, filepath.Join(stage.PackagePath(), "link"))
		stage.PutTimesBack(now)
		for path, want := range map[string]bool{stage.PackagePath(): true, filepath.Dir(page): true, page: true, file: false} {
			must.Equal(t, now.Sub(must.Get(os.Stat(path))(t).ModTime()) > 2*time.Second, want, path)
		}
	})
}

// A program that runs has its file open: what it has loaded stays as it is, or the package stays.
func TestStage_NeverWritesToAProgramThatRuns(t *testing.T) {
	t.Parallel()
	target := t.TempDir()
	final := filepath.Join(target, "final")
	program := filepath.Join(final, cachetest.WidgetFile)
	cachetest.WriteTo(t, program, "old")
	running := must.Get(os.Open(program))(t)
	stage := stageWith(t, target, "new")
	tries := 0
	_, err := stage.Offer(t.Context(), final, "h1:new", func(getproviders.Hash) bool { tries++; return true })
	want := "new"
	if err != nil && runtime.GOOS == "windows" { // which keeps directories with open files where they are
		want = "old"
		must.Fail(t, err, patient.ErrHeld)
	} else {
		must.Succeed(t, err)
	}
	must.Equal(t, tries, 1) // the wait isn't begun again
	must.Equal(t, cachetest.ContentOf(t, program), want)
	must.Equal(t, string(must.Get(io.ReadAll(running))(t)), "old")
	must.Succeed(t, running.Close())
	if want == "old" {
		must.Get(stage.Publish(t.Context(), final, "h1:new"))(t)
		must.Equal(t, cachetest.ContentOf(t, program), "new")
	}
}

// Windows has paths of 260 characters for programs that don't ask for longer ones.
func TestStage_PublishesBelowALongPath(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), strings.Repeat("a", 120), strings.Repeat("b", 120), strings.Repeat("c", 120))
	final := filepath.Join(target, "host", "namespace", "type")
	for _, content := range []string{"old", "new"} {
		stage := stageWith(t, target, content)
		h1 := cachetest.HashOf(t, stage.PackagePath())
		must.Get(stage.Publish(t.Context(), final, h1))(t)
		must.Equal(t, cachetest.HashOf(t, final), h1)
		stage.Remove()
	}
	must.Equal(t, cachetest.ContentOf(t, filepath.Join(final, cachetest.WidgetFile)), "new")
	must.Len(t, must.Get(os.ReadDir(target))(t), 1) // the stages are gone
}
