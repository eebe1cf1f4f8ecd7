// Package oracle runs tfdeps and the real terraform, or tofu, on the same
// directories and compares what they leave and say.
package oracle

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
)

func TestMain(m *testing.M) { harness.Main(m) }

// exemptions are all that there are. "Difference N" is an entry of the list in
// docs/differences.md.
var exemptions = map[string]harness.Exemption{
	"stray_file":               {Lock: true, Tree: true, Reason: "difference 3: Terraform unpacks around the stray file and locks what comes out"},
	"lock_with_unknown_scheme": {Exit: true, Lock: true, Reason: "difference 43: Terraform installs as if the entry had no hashes, and drops those that it doesn't know"},
	"zip_setuid":               {Tree: true, Reason: "difference 12: Terraform leaves the setuid bit on"},
}

// TestInit_SameAsTerraform runs tfdeps and the real terraform in sibling
// directories, from one registry, and compares what they leave on disk byte
// for byte; then each runs in the other's directory, where it has nothing to
// do.
//
// A case is an archive in testdata/oracle. Its files 1/... are laid into both
// directories before the first run of init, 2/... before the second, and so
// on. Three names have a meaning of their own: N/args holds arguments of init,
// N/remove names paths to be removed first, and N/fails says that init has to
// fail, and with which words. $REGISTRY stands for the host of the registry,
// $PLATFORM for this machine's platform.
func TestInit_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareInit(t, withTerraform(t), initCases(t), exemptions)
}

func compareInit(t *testing.T, p *pair, cases map[string][]txtar.File, exempt map[string]harness.Exemption) {
	t.Helper()
	eachCase(t, cases, exempt, 30, func(t *testing.T, files []txtar.File, allowed harness.Exemption) {
		o := p.begin(t, files, allowed)
		failed := false
		for _, step := range slices.Sorted(maps.Keys(o.steps)) {
			failed = o.step(step)
			o.sameLock("after step " + step)
			if !failed {
				o.sameTree("after step " + step)
			}
		}
		if !failed {
			o.crossOver()
		}
		o.isNeeded()
	})
}

// initCases reads cases that are an archive each.
func initCases(t *testing.T) map[string][]txtar.File {
	t.Helper()
	return readCases(t, "testdata/oracle/*.txtar", func(archive, name string) (string, string) { return archive, name })
}

func TestExemptions_NameDifferences(t *testing.T) {
	for _, all := range []map[string]harness.Exemption{exemptions, tofuExemptions, moduleExemptions, providersExemptions, passingExemptions, tofuStatusExemptions} {
		harness.CheckExemptions(t, all)
	}
}

func (o *run) sameTree(when string) {
	o.t.Helper()
	ours, theirs := harness.ListTree(o.t, o.dirs[0]), asOurs(harness.ListTree(o.t, o.dirs[1]))
	o.same(when+", .terraform/providers", strings.Join(ours, "\n"), strings.Join(theirs, "\n"), o.allowed.Tree)
}

// asOurs leaves out the files by which OpenTofu locks packages, and which it
// never removes; and it has the record of a backend readable for its owner only,
// which is difference 13.
func asOurs(tree []string) []string {
	for i, line := range tree {
		if mode, record, _ := strings.Cut(line, " "); strings.HasPrefix(record, ".terraform/terraform.tfstate ") && mode == "-rw-r--r--" {
			tree[i] = "-rw------- " + record
		}
	}
	return slices.DeleteFunc(tree, func(line string) bool {
		return strings.Contains(line, " .terraform/providers/") && strings.Contains(line, "/"+getproviders.CurrentPlatform().String()+".lock ")
	})
}
