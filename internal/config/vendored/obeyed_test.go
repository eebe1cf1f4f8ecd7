package vendored

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestGitAttributes_LinesThatIgnore has lines, and after a line feed the name of a file that the line may
// ignore.
func TestGitAttributes_LinesThatIgnore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"*.zip\na.zip": true, "*.zip\ndeep/a.zip": true, "*.zip\na.zip.tf": false, "*.zip\r\n\na.zip": true, "# *.zip\na.zip": false,
		"!*.zip\na.zip": false, "\na": false, "  \na": false, "\\#a\n#a": true, "/a\na": true,
		"/a\ndeep/a": false, "a/\ndeep/a/b": true, "a/b\na/b/c": true, "a/b\nx/a/b": false, "**/b\na/x/b": true,
		"a/**\na/b/c": true, "a/**/c\na/c": true, "a/**/c\na/x/y/c/d": true, "a/**/c\nb/c": false, "[!a].tf\nb.tf": true,
		"[!a].tf\na.tf": false, "A.TF\na.tf": true, "[\na": true, "[[:alpha:]]\n9": true, "main.tf \nmain.tf": true,
	} {
		at := strings.LastIndex(text, "\n")
		must.Equal(t, mayIgnore(text[:at], text[at+1:]), want, text)
	}
}

func TestGitAttributes_LinesThatChangeFiles(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"": false, "# text": false, "* text=auto": true, "*.tf text eol=lf": true, "*.tf -text": false, "*.tf !text": true, "*.tf": false,
		"*.png binary": false, "*.zip filter=lfs diff=lfs merge=lfs -text": true, "* -filter": false, "docs export-ignore linguist-vendored=false": false,
		`"a b" diff`: true, "* working-tree-encoding=UTF-16": true, "* ident": true, "* crlf": true, "* -crlf": false, "* own": true,
	} {
		must.Equal(t, changesFiles(line), want, line)
	}
}

// TestGitAttributes_GitIgnoresNothingElse makes random lines and names, and compares with git.
func TestGitAttributes_GitIgnoresNothingElse(t *testing.T) {
	t.Parallel()
	git := peertest.LookProgram(t, "git")
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	run := func(stdin string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, _ := cmd.Output() // fails if nothing is ignored
		return string(out)
	}
	run("", "init", "-q")
	pick := func(from []string, n int) string {
		var b strings.Builder
		for range 1 + random.IntN(n) {
			b.WriteString(from[random.IntN(len(from))])
		}
		return b.String()
	}
	found := 0
	for range 150 {
		line := pick([]string{"a", "b", "*", "**", "/", "?", "[ab]", "[!a]", "[^b]", ".", `\`, "!", "#", " ", "a/", "**/"}, 5)
		var names []string
		for range 20 {
			name := filepath.ToSlash(filepath.Clean(strings.Trim(pick([]string{"a", "b", "ab", "/", "."}, 6), "/.")))
			if name != "." && !strings.Contains(name, "..") {
				names = append(names, name)
			}
		}
		must.Write(t, filepath.Join(dir, ".gitignore"), line+"\n")
		ignored := strings.Fields(run(strings.Join(names, "\n"), "check-ignore", "--no-index", "--stdin"))
		for _, name := range names {
			if slices.Contains(ignored, name) {
				found++
				if !mayIgnore(line, name) {
					t.Errorf("git ignores %q because of %q", name, line)
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("git ignores %d names: the test is too tame", found)
	}
}
