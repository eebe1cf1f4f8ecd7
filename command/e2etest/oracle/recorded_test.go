package oracle

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// recording has the output and exit code of a version of a program for each command of the cases: a file PROGRAM-VERSION.txtar of
// testdata/recorded. Line breaks aren't compared, because they depend on the length of temporary names.
type recording struct {
	program, version string
	making           bool // by the real program

	mu   sync.Mutex
	said map[string]string // by GROUP/CASE/NUMBER
}

// TestStreams_SameAsRecorded is [TestStreams_SameAsTerraform] without the programs, for all recorded versions.
// testdata/recorded/record makes the recordings again.
func TestStreams_SameAsRecorded(t *testing.T) {
	t.Parallel()
	if os.Getenv("TFDEPS_RECORD") != "" {
		makeRecordings(t)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("the recordings have the paths of other systems")
	}
	paths, err := filepath.Glob(harness.Path(t, "testdata/recorded/*.txtar"))
	if err != nil || len(paths) < 4 {
		t.Fatalf("there are %d recordings, want 4 at least (%v)", len(paths), err)
	}
	for _, path := range paths {
		archive := must.Get(txtar.ParseFile(path))(t)
		r := &recording{said: byName(archive.Files)}
		if _, err := fmt.Sscanf(string(archive.Comment), "%s %s", &r.program, &r.version); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			r.compare(t, "")
		})
	}
}

// makeRecordings records the installed terraform and tofu.
func makeRecordings(t *testing.T) {
	for program, path := range map[string]string{"terraform": harness.LookTerraform(t), "tofu": harness.LookTofu(t)} {
		r := &recording{program: program, version: tofuVersion(t, path), making: true, said: map[string]string{}}
		t.Run(program, func(t *testing.T) { r.compare(t, path) }) // ends when all cases have
		numbers := strings.SplitN(r.version, ".", 3)
		archive := &txtar.Archive{Comment: []byte(program + " " + r.version + "\n\nMade by testdata/recorded/record.\n\n")}
		for _, name := range slices.Sorted(maps.Keys(r.said)) {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(r.said[name])})
		}
		file := harness.Path(t, "testdata/recorded/"+program+"-"+numbers[0]+"."+numbers[1]+".txtar")
		must.Succeed(t, os.WriteFile(file, txtar.Format(archive), 0o644))
	}
}

// compare runs all cases.
func (r *recording) compare(t *testing.T, peer string) {
	link, differences, leftOut := harness.Tfdeps(t), streamDifferences, []string(nil)
	if r.program == "tofu" {
		link, differences, leftOut = linkedAs(t, "tofu"), tofuStreamDifferences(), ofTerraformOnly
	}
	p := newPair(t, [2]string{link, peer}, func(tb testing.TB, more ...string) []string {
		return harness.Env(tb, append(more, "TFDEPS_"+strings.ToUpper(r.program)+"_VERSION="+r.version)...)
	})
	p.recorded = r
	compareStreams(t, p, differences, leftOut...)
}

// isOlder reports whether a case is for versions since another one.
func (r *recording) isOlder(since string) bool {
	version, err := getproviders.ParseVersion(r.version)
	return err == nil && r.program == "terraform" && version.Compare(getproviders.MustParseVersion(since+".0-0")) < 0
}

// keep records how a command ended.
func (r *recording) keep(name string, end harness.Ended) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said[name] = fmt.Sprintf("exit %d\n%s%s%s", end.Code, end.Out, stderrBegins, end.Err)
}

// stderrBegins separates the two streams.
const stderrBegins = "\n== stderr\n"

// recall returns how a command ended.
func (r *recording) recall(t *testing.T, name string) (end harness.Ended) {
	t.Helper()
	code, streams, _ := strings.Cut(r.said[name], "\n")
	out, stderr, isThere := strings.Cut(streams, stderrBegins)
	if _, err := fmt.Sscanf(code, "exit %d", &end.Code); err != nil || !isThere {
		t.Fatalf("%s isn't recorded of %s %s: run testdata/recorded/record", name, r.program, r.version)
	}
	end.Out, end.Err = out, stderr
	return end
}

// keyID is chosen anew for each run.
var keyID = regexp.MustCompile(`key ID [0-9A-F]{16}`)

// constant removes text that differs from run to run.
func (p *pair) constant(text string) string {
	text = strings.NewReplacer(p.registry.Host(), "REGISTRY", getproviders.CurrentPlatform().String(), "PLATFORM").Replace(text)
	return keyID.ReplaceAllString(text, "key ID KEY")
}
