package oracle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// moduleExemptions are the cases of modules in which the two programs may
// differ; see exemptions.
var moduleExemptions = map[string]harness.Exemption{
	"registry_directory": {Exit: true, Reason: "difference 28: Terraform lets a registry lead to a directory of this machine"},
	"git_ref_in_full":    {Exit: true, Reason: "difference 55: a ref may be written in full"},
	"git_ref_half":       {Exit: true, Reason: "difference 55: a ref may be written in full"},
	"git_empty":          {Exit: true, Reason: "difference 55: a module has files"},
	"git_ref_of_a_log":   {Exit: true, Reason: "difference 55: there is no log here"},
	"git_reaches_files":  {Exit: true, Reason: "difference 28: Terraform lets a module from a repository call one on this machine"},
}

// TestModules_SameAsTerraform is TestInit_SameAsTerraform for modules that have to be
// fetched. Beside lock files it compares modules.json, what `providers` prints,
// and whether the real plan accepts what is there.
//
// Each archive in testdata/oracle_modules holds several cases, CASE/STEP/FILE.
// $GIT/ and $HTTPGIT/ stand for the directory of repositories, by file and by
// https, $WORK/ for that of their checkouts, $ARCHIVES/ for that of archives,
// $COMMIT(REPO@TAG) for a commit. See moduleWorld for what there is.
func TestModules_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareModules(t, withTerraform(t))
}

func compareModules(t *testing.T, p *pair) {
	t.Helper()
	harness.RequireProgram(t, "git")
	world := newModuleWorld(t)
	p.registry, p.expand = world.registry, world.expand
	eachCase(t, readCases(t, "testdata/oracle_modules/*.txtar", several), moduleExemptions, 60, func(t *testing.T, files []txtar.File, allowed harness.Exemption) {
		ca := filepath.Join(t.TempDir(), "ca.pem")
		must.Write(t, ca, world.ca.PEM())
		p.begin(t, files, allowed, append(gitEnv(), "GIT_SSL_CAINFO="+ca)...).compareModules()
	})
}

func (o *run) compareModules() {
	failed := false
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		if failed = o.step(step); failed {
			continue
		}
		o.sameLock("after step " + step)
		o.sameManifest("after step " + step)
		o.sameModules("after step " + step)
	}
	if failed {
		return
	}
	o.sameProviders()
	o.plan()
	o.crossOver()
	o.sameManifest("after running in each other's directory")
	o.isNeeded()
}

func (o *run) sameManifest(when string) {
	o.t.Helper()
	var manifests [2]string
	for i, dir := range o.dirs {
		manifests[i] = strings.ReplaceAll(contentIfAny(o.t, filepath.Join(dir, ".terraform/modules/modules.json")), filepath.Base(filepath.Dir(dir)), "")
	}
	o.same(when+", modules.json", manifests[0], manifests[1], o.allowed.Tree)
}

// sameModules compares what the programs installed: the names below .terraform/modules, the
// bytes of files, and whether they can be run. Names with a dot in front are in some of Terraform's copies only,
// and a directory of this machine may be a link or a copy of it (differences 27 and 56).
func (o *run) sameModules(when string) {
	o.t.Helper()
	var trees [2]string
	for i, dir := range o.dirs {
		trees[i] = joined(installedModules(o.t, filepath.Join(dir, ".terraform/modules")))
	}
	o.same(when+", what is in modules", trees[0], trees[1], o.allowed.Tree)
}

// installedModules lists the files of each module, and the directories that have any.
func installedModules(t *testing.T, dir string) (lines []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		root := must.Get(filepath.EvalSymlinks(filepath.Join(dir, entry.Name())))(t)
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			continue // the record
		}
		must.Succeed(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != root && strings.HasPrefix(d.Name(), ".") && d.IsDir():
				return fs.SkipDir
			case d.IsDir() || strings.HasPrefix(d.Name(), "."):
				return nil
			}
			content, err := os.ReadFile(path) // of what a link leads to, too
			info, statErr := os.Stat(path)
			if err := errors.Join(err, statErr); err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			lines = append(lines, fmt.Sprintf("%s/%s run=%t %x", entry.Name(), filepath.ToSlash(name), info.Mode()&0o100 != 0, sha256.Sum256(content)))
			return err
		}))
	}
	return lines
}

// sameProviders compares what `providers` prints, in which Terraform has
// siblings in any order.
func (o *run) sameProviders() {
	o.t.Helper()
	var lines [2]string
	for i := range lines {
		end := o.in(i, i, "providers", "-no-color")
		if end.Code != 0 {
			o.t.Errorf("%s providers: %s", filepath.Base(o.programs[i]), end)
		}
		lines[i] = joined(setOfLines(end.Said()))
	}
	o.same("what providers prints", lines[0], lines[1], false)
}

// setOfLines is what lines say, wherever in the tree they are drawn.
func setOfLines(out string) (lines []string) {
	for line := range strings.Lines(out) {
		lines = append(lines, strings.TrimSpace(strings.TrimLeftFunc(line, func(r rune) bool { return r != '.' && !unicode.IsLetter(r) })))
	}
	slices.Sort(lines)
	return lines
}

// plan has Terraform plan in the directory that we have made. It may fail
// only where it starts providers, for those aren't programs here.
func (o *run) plan() {
	o.t.Helper()
	end := o.in(0, 1, "plan", "-no-color", "-input=false")
	if end.Code != 0 && !strings.Contains(harness.OneLine(end.Said()), "Error: Failed to load plugin schemas") {
		o.t.Errorf("plan doesn't accept the directory: %s", end)
	}
}
