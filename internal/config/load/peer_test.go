package load

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	version "github.com/hashicorp/go-version"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func TestMain(m *testing.M) {
	peertest.MoreAtOnce()
	m.Run()
}

// The requirements and problems of the modules in testdata are those that Terraform reports, to
// the column.
func TestLoadModule_SameAsTerraform(t *testing.T) { compareModules(t, newPeer(t, "terraform"), false) }

// TestLoadModule_SameAsTofu does the same for the files named after a version of OpenTofu.
func TestLoadModule_SameAsTofu(t *testing.T) {
	if _, err := peertest.PeerProgram("tofu"); err != nil { // it isn't required
		t.Skipf("there is no tofu: %v", err)
	}
	compareModules(t, newPeer(t, "tofu"), true)
}

func compareModules(t *testing.T, peer peer, tofu bool) {
	t.Helper()
	for _, m := range readModules(t) {
		if m.isTofu() != tofu {
			continue
		}
		for _, name := range m.names() {
			t.Run(strings.TrimSuffix(filepath.Base(m.file), ".txtar")+"/"+name, func(t *testing.T) {
				t.Parallel()
				peertest.PeerCase(t, t.Name())
				if reason := m.text(name, "differs"); reason != "" {
					t.Skip(strings.TrimSpace(reason))
				}
				if since := strings.TrimSpace(m.text(name, "since")); since != "" && peer.olderThan(t, since) {
					t.Skip("Terraform says that since version " + since)
				}
				if own := m.version(); own != productVersion && (peer.olderThan(t, own) || !peer.olderThan(t, nextMinor(own))) {
					t.Skip("is about version " + own)
				}
				dir := t.TempDir()
				m.unpack(t, name, dir)
				got := peer.summary(t, dir)
				must.Equal(t, got, placeless(got, m.text(name, "want")))
			})
		}
	}
}

// Each reason in testdata for a different result of Terraform is an entry of docs/differences.md,
// "difference N: ...".
func TestLoadModule_DiffersAsTheListSays(t *testing.T) {
	list := must.Get(os.ReadFile("../../../docs/differences.md"))(t)
	for _, m := range readModules(t) {
		for _, name := range m.names() {
			reason := m.text(name, "differs")
			number, explained, _ := strings.Cut(strings.TrimPrefix(reason, "difference "), ":")
			if reason != "" && (!strings.HasPrefix(reason, "difference ") || explained == "" || !strings.Contains(string(list), "\n"+number+". ")) {
				t.Errorf("%s, %s: %q names no entry of docs/differences.md", m.file, name, reason)
			}
		}
	}
}

// nextMinor returns the following minor version, which may have other keywords.
func nextMinor(of string) string {
	segments := version.Must(version.NewVersion(of)).Segments()
	return fmt.Sprintf("%d.%d.0", segments[0], segments[1]+1)
}

// placeless returns the wanted problems; those that Terraform reports without a location have none.
func placeless(got, want string) string {
	lines := map[string]bool{}
	for line := range strings.Lines(want) {
		severity, rest, _ := strings.Cut(line, " ")
		if _, summary, ok := strings.Cut(rest, ": "); ok && strings.Contains(got, severity+" : "+summary) {
			line = severity + " : " + summary
		}
		lines[line] = true
	}
	return joinLines(lines)
}

// peer is Terraform, without a network.
type peer struct {
	program string
	env     []string
}

func newPeer(t *testing.T, name string) peer {
	t.Helper()
	program := peertest.LookProgram(t, name)
	dir := t.TempDir()
	config := filepath.Join(dir, "cli.tfrc")
	mirror := filepath.Join(dir, "mirror")
	must.Succeed(t, os.Mkdir(mirror, 0o755))
	must.Write(t, config, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror))
	return peer{program, []string{"TF_CLI_CONFIG_FILE=" + config}}
}

// run returns the standard output of a command, which may fail.
func (p peer) run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := peertest.Command(t.Context(), p.program, dir, p.env, args...).Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 11 {
		t.Skipf("Terraform crashes: %s", exit.Stderr)
	} else if ok && exit.ExitCode() != 1 {
		t.Fatalf("terraform %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	} else if err != nil && !ok {
		t.Fatal(err)
	}
	return string(out)
}

// olderThan reports whether the program's version is below another one.
func (p peer) olderThan(t *testing.T, since string) bool {
	t.Helper()
	var said struct {
		Version string `json:"terraform_version"`
	}
	must.Succeed(t, json.Unmarshal([]byte(p.run(t, t.TempDir(), "version", "-json")), &said))
	running := must.Get(version.NewVersion(said.Version))(t)
	return running.Core().LessThan(version.Must(version.NewVersion(since)))
}

var requirementLine = regexp.MustCompile(`provider\[(.*?)\] ?(.*)`)

// summary is the function summary with Terraform's results.
func (p peer) summary(t *testing.T, dir string) string {
	t.Helper()
	lines := map[string]bool{}
	failed := false
	for line := range strings.Lines(p.run(t, dir, "init", "-backend=false", "-json")) {
		severity, problem := peerDiagnostic(t, line)
		if problem != "" {
			lines[problem] = true
			failed = failed || severity == "error"
		}
	}
	if failed {
		return joinLines(lines)
	}
	for key, source := range testModules(t, dir) {
		lines[runLine(key, source)] = true
	}
	for line := range strings.Lines(p.run(t, dir, "providers", "-no-color")) {
		if match := requirementLine.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			lines[strings.TrimSpace(match[1]+" "+match[2])+"\n"] = true
		}
	}
	return joinLines(lines)
}

// testModules returns the sources of the modules that only tests call, by key.
func testModules(t *testing.T, dir string) map[string]string {
	t.Helper()
	var manifest struct {
		Modules []struct{ Key, Source string }
	}
	content, err := os.ReadFile(filepath.Join(dir, ".terraform/modules/modules.json"))
	if os.IsNotExist(err) {
		return nil
	}
	must.Succeed(t, err)
	must.Succeed(t, json.Unmarshal(content, &manifest))
	found := map[string]string{}
	for _, m := range manifest.Modules {
		if strings.HasPrefix(m.Key, "test.") {
			found[m.Key] = m.Source
		}
	}
	return found
}

// peerDiagnostic returns the problem in a line of JSON, or "" if the line has none, or one that
// isn't in the configuration.
func peerDiagnostic(t *testing.T, line string) (severity, problem string) {
	t.Helper()
	var message struct {
		Diagnostic *struct {
			Severity, Summary string
			Range             struct {
				Filename   string
				Start, End struct{ Line, Column int }
			}
		}
	}
	must.Succeed(t, json.Unmarshal([]byte(line), &message), line)
	d := message.Diagnostic
	if d == nil {
		return "", ""
	}
	for _, other := range []string{"Terraform encountered problems", "Failed to query available", "Invalid dependency on built-in", "Unreadable module directory"} {
		if strings.HasPrefix(d.Summary, other) {
			return "", ""
		}
	}
	at := ""
	if r := d.Range; r.Filename != "" {
		at = fmt.Sprintf("%s:%d,%d-%d,%d", r.Filename, r.Start.Line, r.Start.Column, r.End.Line, r.End.Column)
		if r.Start.Line == r.End.Line {
			at = fmt.Sprintf("%s:%d,%d-%d", r.Filename, r.Start.Line, r.Start.Column, r.End.Column)
		}
	}
	return d.Severity, problemLine(d.Severity, at, d.Summary)
}
