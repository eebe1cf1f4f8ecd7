package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hostiletest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// honestRegistry serves packages without a lie.
func honestRegistry(t *testing.T) *providertest.Registry {
	t.Helper()
	registry := must.Get(hostiletest.NewHostile(hostiletest.HostileRule{}, hostileWorld(t)))(t)
	t.Cleanup(registry.Close)
	return registry
}

// runAll runs commands, a line each, has each end with the code, and returns what the last one prints.
func runAll(t *testing.T, root string, registry *providertest.Registry, code int, lines ...string) (said string) {
	t.Helper()
	for _, line := range lines {
		got, stdout, stderr := runInProcess(t, root, hostOf(registry), line)
		must.Equal(t, got, code, line, stdout, stderr)
		said = stdout + stderr
	}
	return said
}

// TestMain_WorksInDirectoriesOfOddNames runs init below directories whose names are invalid UTF-8, or
// almost as long as the system allows; no terminal obeys a name.
func TestMain_WorksInDirectoriesOfOddNames(t *testing.T) {
	registry := honestRegistry(t)
	for name, dir := range map[string]string{
		"no UTF-8":                  "a\xff\xfeb",
		"a line break":              "a\nb",
		"an escape sequence":        "a\x1b]0;owned\ab",
		"a pattern":                 "[a]*?",
		"quotes and variables":      "a'\"$HOME`b ${x} %{y}",
		"what Windows holds":        "[a]'$HOME`b ${x} %{y} %PATH% ^&",
		"a path of 3600 characters": strings.Repeat(strings.Repeat("d", 199)+"/", 18),
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS != "linux" && (runtime.GOOS != "windows" || !utf8.ValidString(dir) || strings.ContainsAny(dir, "\"*?\n\x1b")) {
				t.Skip("Windows has no such names")
			}
			root := filepath.Join(t.TempDir(), dir)
			writeWorld(t, root, registry, false)
			if said := runAll(t, root, registry, 0, "init"); strings.ContainsFunc(said, obeyed) {
				t.Errorf("a terminal would obey %q", said)
			}
		})
	}
	// An absolute path to a package would be longer than Linux allows, 4095 bytes, so that no shared cache is used there.
	t.Run("a path of 4000 characters", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("Windows has no such names")
		}
		root := filepath.Join(t.TempDir(), strings.Repeat(strings.Repeat("d", 199)+"/", 21))[:4000]
		writeWorld(t, root, registry, false)
		runAll(t, root, registry, 0, "init", "init -verify", "init -check", "get", "providers lock", "providers mirror mirror", "vendor", "providers verify", "doctor")
		must.Contain(t, strings.Join(strings.Fields(runAll(t, root, registry, 1, "cache verify")), " "), "a path has 4095 at most")
	})
}

// TestMain_WorksWhateverTheClockSays sets the clock to odd times, and lets it jump between two runs.
func TestMain_WorksWhateverTheClockSays(t *testing.T) {
	registry := honestRegistry(t)
	root := t.TempDir()
	writeWorld(t, root, registry, false)
	now := time.Now()
	for _, at := range []time.Time{time.Unix(0, 0), now.AddDate(1000, 0, 0), now, now.AddDate(-10, 0, 0), now, now.AddDate(10, 0, 0), now.AddDate(0, 0, -1)} {
		for _, line := range []string{"init", "cache gc", "cache verify"} {
			if code, stdout, stderr := runInProcessAt(t, root, hostOf(registry), line, func() time.Time { return at }); code != 0 {
				t.Fatalf("%q at %v: exit code %d\n%s%s", line, at, code, stdout, stderr)
			}
		}
		must.Succeed(t, os.RemoveAll(filepath.Join(root, "work/.terraform")))
	}
}

// TestMain_WorksWithRecordsOfOtherVersions tests receipts and records of an unknown version
// of the program, or with garbage: they are ignored.
func TestMain_WorksWithRecordsOfOtherVersions(t *testing.T) {
	registry := honestRegistry(t)
	for name, change := range map[string]func(content string) string{
		"a later format": func(content string) string {
			return strings.NewReplacer(`"format":1`, `"format":999`, `"version":1`, `"version":999`, `"format_version":"1`, `"format_version":"999`).Replace(content)
		},
		"cut off": func(content string) string { return content[:len(content)/2] },
		"empty":   func(string) string { return "" },
		"a page":  func(string) string { return "<html>" },
		"other types": func(string) string {
			return `{"format": [], "version": {}, "packages": 7, "entries": "x", "receipts": []}`
		},
		"null":           func(string) string { return "null" },
		"bytes of zero":  func(content string) string { return strings.Repeat("\x00", len(content)) },
		"nested lists":   func(string) string { return strings.Repeat("[", 100_000) },
		"twice the same": func(content string) string { return content + content },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeWorld(t, root, registry, false)
			runAll(t, root, registry, 0, "init")
			changed := 0
			for _, kept := range []string{"home/.local", "cache"} {
				must.Succeed(t, filepath.WalkDir(filepath.Join(root, kept), func(path string, entry fs.DirEntry, err error) error {
					if err != nil || !entry.Type().IsRegular() || strings.Contains(path, "acme") {
						return err
					}
					content, err := os.ReadFile(path)
					if err != nil || len(content) == 0 {
						return err
					}
					changed++
					return os.WriteFile(path, []byte(change(string(content))), 0o600)
				}))
			}
			if changed == 0 {
				t.Fatal("nothing is kept")
			}
			must.Succeed(t, os.RemoveAll(filepath.Join(root, "work/.terraform")))
			runAll(t, root, registry, 0, "init", "init")
		})
	}
}

// TestMain_LeavesAloneWhatOtherVersionsKeep puts files of older and later versions of the program
// beside those of this one: no command uses, reports or removes them.
func TestMain_LeavesAloneWhatOtherVersionsKeep(t *testing.T) {
	registry := honestRegistry(t)
	root := t.TempDir()
	writeWorld(t, root, registry, false)
	provider := hostOf(registry) + "/acme/tiny/1.0.0/" + getproviders.CurrentPlatform().String() + "/terraform-provider-tiny_v1.0.0"
	others := map[string]string{}
	for _, format := range []string{"v0", "v2", "v10"} {
		others["cache/tfdeps/providers/"+format+"/"+provider] = "a provider of " + format
		others["cache/tfdeps/modules/"+format+"/package/main.tf"] = "a module of " + format
	}
	must.WriteAll(t, root, others)
	for _, line := range []string{"init", "cache verify", "cache list", "cache gc -max-size=0", "init -verify", "cache clean"} {
		said := runAll(t, root, registry, 0, line)
		for _, format := range []string{"v0", "v2", "v10"} {
			must.NotContain(t, said, "/"+format+"/", line)
		}
	}
	for name, want := range others {
		must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(root, filepath.FromSlash(name))))(t)), want, name)
	}
}

// TestMain_WorksWhereCaseDoesntCount runs an init on a case-insensitive file system: that of the
// tests if it is one, else a mounted one.
func TestMain_WorksWhereCaseDoesntCount(t *testing.T) {
	root := caseless(t)
	registry := honestRegistry(t)
	writeWorld(t, root, registry, false)
	runAll(t, root, registry, 0, "init", "init -verify", "cache verify", "providers mirror Mirror", "providers mirror mirror", "vendor", "init -check")
}

// TestMain_RefusesSpellingsWhereCaseDoesntCount has two modules, and two files of a module, that are the same
// on a case-insensitive file system: neither may replace the other.
func TestMain_RefusesSpellingsWhereCaseDoesntCount(t *testing.T) {
	root := caseless(t)
	registry := honestRegistry(t)
	writeWorld(t, root, registry, false)
	module := func(name string, files files) string {
		archive := filepath.Join(root, name+".zip")
		must.Write(t, archive, providertest.Zip(files))
		return filepath.ToSlash(archive)
	}
	one, other := module("one", files{"main.tf": "# one\n"}), module("other", files{"main.tf": "# other\n"})
	twice := module("twice", files{"a.tf": "# small\n", "A.tf": "# large\n"})
	for config, want := range map[string]string{
		fmt.Sprintf("module \"net\" {\n  source = %q\n}\nmodule \"Net\" {\n  source = %q\n}\n", one, other): "another module differs from this one in case only",
		fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", twice):                                          "differ only in case",
	} {
		must.Write(t, filepath.Join(root, "work/main.tf"), config)
		for _, command := range []string{"get", "init", "vendor"} {
			must.Contain(t, strings.Join(strings.Fields(strings.ReplaceAll(runAll(t, root, registry, 1, command), "│", "")), " "), want, command, config)
		}
	}
}

// caseless returns a case-insensitive directory.
func caseless(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ignoresCase := func() bool {
		must.Write(t, filepath.Join(dir, "NAME"), "")
		_, err := os.Stat(filepath.Join(dir, "name"))
		return err == nil
	}
	if ignoresCase() {
		return dir
	}
	place := t.TempDir()
	if err := mountCasefold(t, place); err != nil {
		t.Skipf("no file system here ignores case: %q", err.Error()) // in one line
	}
	if dir = place; !ignoresCase() {
		t.Fatal("the file system that was mounted doesn't ignore case")
	}
	return dir
}

// TestMain_SaysWhatDirectoriesItCantUse replaces each directory of a user by a file.
func TestMain_SaysWhatDirectoriesItCantUse(t *testing.T) {
	registry := honestRegistry(t)
	for _, c := range []struct {
		place string
		code  int
	}{
		{"work/.terraform", 1}, {"work/.terraform/providers", 1}, {"temp", 0}, {"cache", 0}, {"cache/tfdeps", 0}, {"home/.local", 0}, {"home/.local/state/tfdeps", 0},
	} {
		t.Run(c.place, func(t *testing.T) {
			root := t.TempDir()
			writeWorld(t, root, registry, false)
			path := filepath.Join(root, c.place)
			must.Succeed(t, os.RemoveAll(path))
			must.Write(t, path, "precious")
			runAll(t, root, registry, c.code, "init")
			must.Equal(t, string(must.Get(os.ReadFile(path))(t)), "precious")
		})
	}
}
