// Package sources compares the sources of packages in tfdeps and the real terraform:
// directories, mirrors, registries, and their settings in the CLI configuration.
package sources

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func TestMain(m *testing.M) { harness.Main(m) }

// sourceCase has sources of providers, and the expected result. In all
// its texts sourceWorld.expand replaces $ROOT, $HOSTS and so on.
type sourceCase struct {
	needs string // a required provider a line, "ADDRESS [CONSTRAINTS]"; "" means $WIDGET
	cli   string // the content of .terraformrc in the user's home besides $HOSTS
	again string // the same for a second init; "" means no second init
	// packages has a line for each package of a filesystem mirror, which is its
	// path below $ROOT: a directory's ends in a slash, an archive's in .zip. A
	// line "LINK -> TARGET" is a symlink. The text in a package's executable is
	// that path, so that packages of different origin never have equal hashes.
	packages string
	comes    string   // the only package of a filesystem mirror, which is installed
	mirrors  string   // versions of $WIDGET that the network mirror has
	hashes   []string // that it lists for them; nil means those of the archive
	edits    []string // see sourceWorld.edits
	files    files    // others, by path below $ROOT; scripts are executable
	env      []string
	args     string // of init
	chdir    bool   // the program starts in $ROOT, with -chdir=work
	arrange  func(*sourceWorld)

	installs string // the paths of the installed packages, in the order of their addresses
	fails    string // init fails with this text
	warns    string // init doesn't fail, and says this
	theirs   string // what Terraform says, if not that
}

// TestSources_SameAsTerraform lets tfdeps and the real terraform choose between
// the same sources, one after the other in a directory of the same path, and
// compares exit codes, lock files and everything in .terraform.
func TestSources_SameAsTerraform(t *testing.T) {
	t.Parallel()
	programs := [2]string{harness.Tfdeps(t), harness.LookTerraform(t)}
	ca, signer := harness.NewCA(t), providertest.NewSigner(providertest.SignerOptions{}) // of the servers of all cases
	cases := sourceCases(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.PeerCase(t)
			world := newSourceWorld(t, ca, signer)
			var left [2]leftBehind
			for i, program := range programs {
				c.prepare(world) // again for the second: some faults are used up
				left[i] = world.run(t, program, c)
			}
			c.check(t, world, left, sourceExemptions[name].Now(t))
		})
	}
	must.Equal(t, len(cases) < 40, false, "there are fewer than 40 cases")
	for name := range sourceExemptions {
		if _, ok := cases[name]; !ok {
			t.Errorf("exemption for %q, which is no case", name)
		}
	}
}

func TestSourceExemptions_NameDifferences(t *testing.T) { harness.CheckExemptions(t, sourceExemptions) }

// sourceWorld has the servers of a case, and the root of its directories.
type sourceWorld struct {
	root     string
	ca       string                 // the file with the certificate of all servers
	registry *providertest.Registry // has $WIDGET 1.0.0, 1.1.0 and 2.0.0
	mirror   *providertest.Mirror   // the others have nothing
	other    *providertest.Mirror
	plain    *providertest.Mirror // speaks http
	expand   func(string) string
	serve    func(http.HandlerFunc) // opens the vault
	vault    string                 // the host and port of one more server; "" if it doesn't run
}

func newSourceWorld(t *testing.T, ca *providertest.CA, signer *providertest.Signer) *sourceWorld {
	t.Helper()
	dir := t.TempDir()
	w := &sourceWorld{root: filepath.Join(dir, "root"), ca: filepath.Join(dir, "ca.pem")}
	must.Write(t, w.ca, ca.PEM())
	w.registry = harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca, Signer: signer})
	w.mirror = harness.Start(t, providertest.NewMirror, providertest.MirrorOptions{CA: ca})
	w.other = harness.Start(t, providertest.NewMirror, providertest.MirrorOptions{CA: ca})
	w.plain = harness.Start(t, providertest.NewMirror, providertest.MirrorOptions{CA: ca, Plain: true})
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
		w.registry.Add(widgetPackage("registry/" + version))
	}
	w.serve = func(handler http.HandlerFunc) {
		w.vault = harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: handler}).Host()
	}
	w.expand = func(text string) string { return w.expandOnce(w.expandOnce(text)) }
	return w
}

// expandOnce replaces names in a text; some stand for texts with names.
func (w *sourceWorld) expandOnce(text string) string {
	if runtime.GOOS == "windows" { // where they are called otherwise
		text = strings.NewReplacer(".terraformrc", "terraform.rc", ".terraform.d", "terraform.d").Replace(text)
	}
	return strings.NewReplacer(
		"$HOSTS", hostBlockFor("tf.example.com", "$SERVICE"),
		"$ROOT", filepath.ToSlash(w.root),
		"$SERVICE", w.registry.ServiceURL(),
		"$MIRRORHOST", w.mirror.Host(),
		"$REGISTRY", w.registry.Host(),
		"$MIRROR", w.mirror.URL(),
		"$OTHER", w.other.URL(),
		"$PLAIN", w.plain.URL(),
		"$VAULT", w.vault,
	).Replace(expandNames(text))
}

func hostBlockFor(host, serviceURL string) string {
	return fmt.Sprintf("host %q {\n  services = { \"providers.v1\" = %q }\n}\n", host, serviceURL)
}

// leftBehind is the result of a run of init.
type leftBehind struct {
	exit      int
	said      string
	lock      string
	tree      []string
	installed string
}

// prepare publishes the packages of a case on the servers.
func (c sourceCase) prepare(w *sourceWorld) {
	for version := range strings.FieldsSeq(c.mirrors) {
		w.mirrors(version, c.hashes...)
	}
	if c.edits != nil {
		w.edits(c.edits[0], c.edits[1], c.edits[2])
	}
	if c.arrange != nil {
		c.arrange(w)
	}
}

// run lays out a case's directories, runs init there, and clears up, so that
// the next program finds a directory of the same path.
func (w *sourceWorld) run(t *testing.T, program string, c sourceCase) leftBehind {
	t.Helper()
	c.layOut(t, w)
	left := w.runInit(t, program, c)
	if c.again != "" && left.exit == 0 {
		writeUnder(t, w.root, w.expand("home/.terraformrc"), []byte(w.expand("$HOSTS"+c.again)))
		left = w.runInit(t, program, c)
	}
	must.Succeed(t, os.RemoveAll(w.root))
	return left
}

func (w *sourceWorld) runInit(t *testing.T, program string, c sourceCase) leftBehind {
	t.Helper()
	work := filepath.Join(w.root, "work")
	dir, args := work, append([]string{"init", "-no-color", "-input=false"}, strings.Fields(w.expand(c.args))...)
	if c.chdir {
		dir, args = w.root, append([]string{"-chdir=work"}, args...)
	}
	env := harness.PinnedEnv(t, "HOME="+filepath.Join(w.root, "home"), "SSL_CERT_FILE="+w.ca,
		"XDG_DATA_DIRS="+filepath.Join(w.root, "none"), "CHECKPOINT_DISABLE=1")
	for _, variable := range c.env {
		env = append(env, w.expand(variable))
	}
	end := harness.Exec(t, dir, env, append([]string{program}, args...)...)
	return leftBehind{
		exit:      end.Code,
		said:      filepath.ToSlash(end.Said()),
		lock:      harness.ReadLock(t, work),
		tree:      harness.ListTree(t, work),
		installed: installedIn(t, work),
	}
}

// installedIn returns the content of the installed packages' executables,
// which is the packages' origin.
func installedIn(t *testing.T, work string) string {
	t.Helper()
	var texts []string
	for _, file := range must.Get(filepath.Glob(filepath.Join(work, ".terraform/providers/*/*/*/*/*/terraform-provider-*")))(t) {
		texts = append(texts, harness.ReadText(t, file))
	}
	return strings.Join(texts, " ")
}

// check compares the results with the expected one, and with each
// other.
func (c sourceCase) check(t *testing.T, w *sourceWorld, left [2]leftBehind, allowed harness.Exemption) {
	t.Helper()
	ours, theirs := left[0], left[1]
	if wantFailure := c.fails != ""; (ours.exit != 0) != wantFailure || ours.exit > 1 {
		t.Fatalf("tfdeps exits with %d:\n%s", ours.exit, ours.said)
	}
	for i, words := range []string{c.fails + c.warns, c.theirWords(allowed)} {
		if words = harness.OneLine(w.expand(words)); !strings.Contains(harness.OneLine(left[i].said), words) {
			t.Errorf("%s doesn't say %q:\n%s", [...]string{"tfdeps", "terraform"}[i], words, left[i].said)
		}
	}
	if want := harness.OneLine(w.expand(c.installs + c.comes)); c.fails == "" && ours.installed != want {
		t.Errorf("what came is %q, want %q", ours.installed, want)
	}
	differed := false
	note := func(what string, same, allowed bool, ours, theirs any) {
		if differed = differed || !same; !same && !allowed {
			t.Errorf("%s differs\n--- ours\n%v\n--- theirs\n%v", what, ours, theirs)
		}
	}
	note("exit code", ours.exit == theirs.exit, allowed.Exit, ours.said, theirs.said)
	if ours.exit == theirs.exit {
		note("lock file", ours.lock == theirs.lock, allowed.Lock, ours.lock, theirs.lock)
		note("tree", slices.Equal(ours.tree, theirs.tree), allowed.Tree, strings.Join(ours.tree, "\n"), strings.Join(theirs.tree, "\n"))
	}
	if allowed.Reason != "" && !differed {
		t.Errorf("nothing differs, so there is no need for the exemption (%s)", allowed.Reason)
	}
}

func (c sourceCase) theirWords(allowed harness.Exemption) string {
	if c.theirs != "" || allowed.Exit {
		return c.theirs
	}
	return c.fails + c.warns
}

// layOut makes the directories of a case: home, work, and what it names.
func (c sourceCase) layOut(t *testing.T, w *sourceWorld) {
	t.Helper()
	files := files{"home/.terraformrc": "$HOSTS" + c.cli, "work/main.tf": requiring(c.needs)}
	maps.Copy(files, c.files)
	for line := range strings.Lines(c.packages + c.comes) {
		if line = strings.TrimSpace(w.expand(line)); line != "" {
			layOutPackage(t, w.root, line)
		}
	}
	for name, content := range files {
		writeUnder(t, w.root, w.expand(name), []byte(w.expand(content)))
	}
	for _, dir := range []string{"home", "work"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(w.root, dir), 0o755))
	}
}

// files are the contents of files by their names, which have slashes.
type files = map[string]string

// expandNames replaces the names that mean the same in all cases.
func expandNames(text string) string {
	return strings.NewReplacer(
		"$WIDGET", "tf.example.com/acme/widget",
		"$GADGET", "tf.example.com/acme/gadget",
		"$PLATFORM", runtime.GOOS+"_"+runtime.GOARCH,
	).Replace(text)
}

// requiring returns a configuration that needs providers, one for each line
// "ADDRESS [CONSTRAINTS]".
func requiring(needs string) string {
	var entries strings.Builder
	for i, need := range strings.Split(strings.TrimSpace(needs), "\n") {
		source, constraints, _ := strings.Cut(strings.TrimSpace(need), " ")
		if source == "" {
			source = "$WIDGET"
		}
		version := ""
		if constraints != "" {
			version = fmt.Sprintf(", version = %q", constraints)
		}
		fmt.Fprintf(&entries, "    p%d = { source = %q%s }\n", i, source, version)
	}
	return "terraform {\n  required_providers {\n" + entries.String() + "  }\n}\n"
}

// writeUnder writes a file, and the directories that it is in.
func writeUnder(t *testing.T, root, name string, content []byte) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	write := func() error { return os.WriteFile(file, content, 0o644) }
	if strings.HasPrefix(string(content), "#!") || strings.HasPrefix(path.Base(name), "terraform-provider-") {
		write = func() error { return peertest.WriteProgram(file, content) }
	}
	must.Succeed(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Succeed(t, write())
}

// layOutPackage makes what a line of sourceCase.packages says.
func layOutPackage(t *testing.T, root, line string) {
	t.Helper()
	link, target, isLink := strings.Cut(line, " -> ")
	switch {
	case isLink:
		at := filepath.Join(root, link)
		must.Succeed(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(target, at)))
	case strings.HasSuffix(line, "/"):
		providerType := strings.ToLower(path.Base(path.Dir(path.Dir(path.Clean(line)))))
		writeUnder(t, root, line+"terraform-provider-"+providerType, []byte(line))
	default:
		writeUnder(t, root, line, packedFrom(line))
	}
}

// packedFrom returns the archive that is at a path: its executable, whose type
// the file's name tells, holds the path.
func packedFrom(file string) []byte {
	words := strings.Split(strings.ToLower(path.Base(file)), "_")
	return providertest.Zip(files{words[0]: file})
}

// widgetPackage is the package of $WIDGET that a server has; from is the
// server's name, a slash and the version.
func widgetPackage(from string) providertest.PackageSpec {
	return providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: path.Base(from), Archive: servedFrom(from)}
}

func servedFrom(from string) []byte {
	return providertest.Zip(files{"terraform-provider-widget": from})
}

// noHashes are the hashes of a package for which the mirror lists none.
var noHashes = []string{}

// mirrors publishes a version of $WIDGET in the network mirror. Without hashes,
// the mirror tells those of the archive.
func (w *sourceWorld) mirrors(version string, hashes ...string) {
	spec := widgetPackage("mirror/" + version)
	spec.Hashes = hashes
	w.mirror.Add("tf.example.com", spec)
}

// edits changes the documents of a kind that the network mirror sends.
func (w *sourceWorld) edits(kind, from, to string) {
	w.mirror.Break(kind, providertest.Fault{Body: func(document []byte) []byte {
		return []byte(strings.ReplaceAll(string(document), w.expand(from), w.expand(to)))
	}})
}

// servedH1 and servedZH are hashes of a server's package, packedH1 and packedZH
// those of a file. They are computed by code that isn't tested here.
func servedH1(from string) string { return h1Of("terraform-provider-widget", from) }

func servedZH(from string) string { return zhOf(servedFrom(from)) }

func packedH1(file string) string { return h1Of("terraform-provider-widget", expandNames(file)) }

func packedZH(file string) string { return zhOf(packedFrom(expandNames(file))) }

func zhOf(archive []byte) string { return fmt.Sprintf("zh:%x", sha256.Sum256(archive)) }

// h1Of returns the hash of a package with one file.
func h1Of(name, content string) string {
	h1, err := dirhash.Hash1([]string{name}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	})
	if err != nil {
		panic(err) // a newline in a name
	}
	return h1
}

// wrongH1 and wrongZH are hashes of nothing here.
var (
	wrongH1 = "h1:" + strings.Repeat("A", 43) + "="
	wrongZH = "zh:" + strings.Repeat("0", 64)
)

// locking returns the files of a case in which $WIDGET is locked.
func locking(version string, hashes ...string) files {
	var list strings.Builder
	for _, hash := range hashes {
		fmt.Fprintf(&list, "    %q,\n", hash)
	}
	text := "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\n" +
		"provider \"$WIDGET\" {\n"
	if len(hashes) == 0 {
		text += fmt.Sprintf("  version = %q\n", version)
	} else {
		text += fmt.Sprintf("  version = %q\n  hashes = [\n%s  ]\n", version, list.String())
	}
	return files{"work/" + depsfile.FileName: text + "}\n"}
}
