package sources

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

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

// noHashes are those of a package that the mirror says nothing about.
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

// servedH1 and servedZH are hashes of what a server has, packedH1 and packedZH
// those of a file. They are made by others than those who are tested.
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
