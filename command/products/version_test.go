package products

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// With these variables the test binary is a stand-in for terraform: it prints the content of the
// first, and leaves a mark in the file that the second names.
const (
	fakeAnswer = "TFDEPS_TEST_FAKE_ANSWER"
	fakeLog    = "TFDEPS_TEST_FAKE_LOG"
)

func TestMain(m *testing.M) {
	if answer := os.Getenv(fakeAnswer); answer != "" {
		pretendToBeTerraform(answer)
	}
	os.Exit(m.Run())
}

func pretendToBeTerraform(answer string) {
	log, err := os.OpenFile(os.Getenv(fakeLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(log, strings.Join(os.Args[1:], " "), os.Getenv(terraformVersionVariable))
		err = log.Close()
	}
	if err != nil || answer == "fail" {
		os.Exit(1)
	}
	if answer == "long" {
		answer = strings.Repeat(" ", 2<<20) + `{"terraform_version": "1.9.8"}`
	}
	fmt.Println(answer)
	os.Exit(0)
}

// fakeTerraform puts a stand-in for terraform into a directory and returns a cli.Meta with that
// directory as its PATH.
func fakeTerraform(t *testing.T, answer string) *cli.Meta {
	t.Helper()
	dir := t.TempDir()
	name := "terraform"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	must.Succeed(t, os.WriteFile(filepath.Join(dir, name), must.Get(os.ReadFile(must.Get(os.Executable())(t)))(t), 0o755))
	return &cli.Meta{
		Context:  t.Context(),
		CacheDir: filepath.Join(t.TempDir(), "tfdeps"),
		Env: cli.Environment(os.Environ()).With("PATH="+dir, terraformVersionVariable+"=",
			fakeAnswer+"="+answer, fakeLog+"="+filepath.Join(dir, "log")),
	}
}

// firstProgram returns the first program of a name on PATH.
func firstProgram(m *cli.Meta, name string) (found Installed, ok bool) {
	for found := range programsOnPath(m, name) {
		return found, true
	}
	return found, false
}

// asked returns how often the stand-in was called, and the arguments of the last call.
func asked(t *testing.T, m *cli.Meta) (times int, last string) {
	t.Helper()
	content, err := os.ReadFile(m.Env.Get(fakeLog))
	if err != nil {
		return 0, ""
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return len(lines), lines[len(lines)-1]
}

func checkProductVersion(t *testing.T, m *cli.Meta, want string) {
	t.Helper()
	got, _, err := findVersion(m, getproviders.Terraform(""), false)
	must.Succeed(t, err)
	must.Equal(t, got, want)
}

func TestFindVersion_IsAskedOnce(t *testing.T) {
	m := fakeTerraform(t, `{"terraform_version": "1.9.8"}`)
	checkProductVersion(t, m, "1.9.8")
	checkProductVersion(t, m, "1.9.8")
	times, last := asked(t, m)
	must.Equal(t, times, 1)
	// A copy of tfdeps would answer.
	must.Equal(t, last, "version -json "+defaultTerraform, "terraform was asked")
}

// The real program would read the lock file of its directory, without limits.
func TestChoose_RefusesALockFileBeforeAProgramReadsIt(t *testing.T) {
	t.Chdir(t.TempDir())
	m := fakeTerraform(t, `{"terraform_version": "1.9.8"}`)
	for content, want := range map[string]string{
		strings.Repeat("a b\n", 150_000): "Lock file too large",
		strings.Repeat(" ", 9<<20):       "Failed to read file",
		strings.Repeat("a = [", 2000):    "Invalid expression",
	} {
		must.Succeed(t, os.WriteFile(depsfile.FileName, []byte(content), 0o600))
		_, problems := Choose(m)
		must.Len(t, problems, 1, want)
		must.Equal(t, problems[0].Summary, want)
	}
	times, _ := asked(t, m)
	must.Equal(t, times, 0)

	must.Succeed(t, os.WriteFile(depsfile.FileName, []byte("broken"), 0o600))
	product, problems := Choose(m)
	must.Len(t, problems, 0)
	must.Equal(t, product.Version, "1.9.8")
}

func TestFindVersion_IsAskedAgainWhenTheProgramChanged(t *testing.T) {
	m := fakeTerraform(t, `{"terraform_version": "1.9.8"}`)
	checkProductVersion(t, m, "1.9.8")
	program, ok := firstProgram(m, "terraform")
	if !ok {
		t.Fatal("terraform is not on PATH")
	}
	later := time.Now().Add(time.Hour)
	must.Succeed(t, os.Chtimes(program.Path, later, later))
	m.Env = m.Env.With(fakeAnswer + `={"terraform_version": "1.10.0"}`)
	checkProductVersion(t, m, "1.10.0")
	if times, _ := asked(t, m); times != 2 {
		t.Errorf("terraform was asked %d times, want twice", times)
	}
}

// Before the real program on PATH there may be a tfdeps of another version, or a launcher that
// calls one.
func TestFindVersion_IsNotWhatAnotherTfdepsAnswers(t *testing.T) {
	m := fakeTerraform(t, `{"terraform_version": "1.15.9", "tfdeps_version": "0.1.0"}`)
	real := filepath.Join(t.TempDir(), "terraform")
	if !peertest.RunsScripts() {
		t.Skip("the other program is a shell script")
	}
	must.Succeed(t, peertest.WriteProgram(real, []byte("#!/bin/sh\necho '{\"terraform_version\": \"1.9.8\"}'\n")))
	checkProductVersion(t, m, defaultTerraform)
	m.Env = m.Env.With("PATH=" + m.Env.Get("PATH") + string(os.PathListSeparator) + filepath.Dir(real))
	checkProductVersion(t, m, "1.9.8")
}

func TestFindVersion_WithoutPlaceToRemember(t *testing.T) {
	m := fakeTerraform(t, `{"terraform_version": "1.9.8"}`)
	occupied := filepath.Join(t.TempDir(), "file")
	must.Write(t, occupied, "")
	for i, dir := range []string{"", filepath.Join(occupied, "tfdeps")} {
		m.CacheDir = dir
		checkProductVersion(t, m, "1.9.8")
		if times, _ := asked(t, m); times != i+1 {
			t.Errorf("terraform was asked %d times, want %d", times, i+1)
		}
	}
}

func TestFindVersion_SurvivesDamagedMemory(t *testing.T) {
	m := fakeTerraform(t, `{"terraform_version": "1.9.8"}`)
	program, _ := firstProgram(m, "terraform")
	memory := programMemory{dir: m.CacheDir}
	program.Version = "1.9.8"
	memory.keep(program)
	for _, damaged := range []string{"", "{", `{"version": "9.9.9"}`, "null"} {
		must.Write(t, memory.file(program.Path), damaged)
		checkProductVersion(t, m, "1.9.8")
	}
}

func TestFindVersion_OfAnswersOfAllKinds(t *testing.T) {
	for answer, want := range map[string]string{
		"fail": "", "long": "", "no JSON": "", `{"terraform_version": "none"}`: "", `{}`: "",
		"\nWarning: Unable to open CLI configuration file\n" + `{"terraform_version": "1.9.8"}`:                       "1.9.8",
		"[command]/bin/terraform-bin version -json\n" + `{"terraform_version": "1.9.8"}` + "\n::debug::exitcode: 0\n": "1.9.8",
	} {
		m := fakeTerraform(t, answer)
		checkProductVersion(t, m, cmp.Or(want, defaultTerraform))
		if entries, _ := os.ReadDir(m.CacheDir); len(entries) > 0 && want == "" {
			t.Errorf("%v was remembered of an answer that is none: %s", entries, answer)
		}
	}
	checkProductVersion(t, &cli.Meta{Context: t.Context(), Env: cli.Environment{"PATH=" + t.TempDir()}}, defaultTerraform)
}

func TestFindVersion_IsNotThatOfTfdeps(t *testing.T) {
	m := fakeTerraform(t, `{"terraform_version": "1.9.8"}`)
	program, _ := firstProgram(m, "terraform")
	m.Executable = program.Path
	checkProductVersion(t, m, defaultTerraform)
	if times, _ := asked(t, m); times > 0 {
		t.Error("tfdeps asked itself")
	}
}

func TestFindVersion_ByVariable(t *testing.T) {
	m := fakeTerraform(t, "fail")
	m.Env = m.Env.With(terraformVersionVariable + "=1.2.3-beta1")
	checkProductVersion(t, m, "1.2.3-beta1")
	m.Env = m.Env.With(terraformVersionVariable + "=latest")
	if got, _, err := findVersion(m, getproviders.Terraform(""), false); err == nil {
		t.Errorf("latest is taken for %s", got)
	}
	if times, _ := asked(t, m); times > 0 {
		t.Error("terraform was asked for nothing")
	}
}

func TestIsProgramFile_ScriptsAreNone(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]bool{"\x7fELF": true, "#!/bin/sh\n": false, "": false} {
		path := filepath.Join(dir, "program")
		if runtime.GOOS == "windows" && want {
			path += ".exe" // programs are known by their name there
		}
		must.Succeed(t, os.WriteFile(path, []byte(content), 0o755))
		must.Equal(t, isProgramFile(path), want, content)
	}
}

func TestProgramMemory_WhatItKeeps(t *testing.T) {
	m := programMemory{dir: t.TempDir()}
	self := must.Get(os.Executable())(t)
	found := must.Get(installed(&cli.Meta{}, self))(t)
	found.Version, found.IsOwn, found.Err = "1.0.0", true, errors.New("no")
	m.keep(found)
	content := must.Get(os.ReadFile(m.file(self)))(t)
	var got map[string]any
	must.Succeed(t, json.Unmarshal(content, &got))
	for _, key := range []string{"path", "size", "mtime", "inode", "version"} {
		if _, ok := got[key]; !ok {
			t.Errorf("there is no %s in %s", key, content)
		}
	}
	must.Equal(t, len(got), 5, got)
	if left, _ := filepath.Glob(filepath.Join(m.dir, "*.tmp")); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}

func TestFindVersion_SaysWhatTheVersionComesFrom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meta *cli.Meta
		want OriginKind
	}{
		"no program":      {&cli.Meta{Env: cli.Environment{"PATH=" + t.TempDir()}}, NoProgram},
		"variable":        {&cli.Meta{Env: cli.Environment{"PATH=", "TFDEPS_TERRAFORM_VERSION=1.2.3"}}, VersionFromVariable},
		"name":            {&cli.Meta{Env: cli.Environment{"PATH="}, StandIn: &cli.StandIn{Name: "terraform1.2.3", Version: "1.2.3"}}, VersionFromName},
		"name of another": {&cli.Meta{Env: cli.Environment{"PATH="}, StandIn: &cli.StandIn{Name: "tofu1.2.3", Version: "1.2.3"}}, NoProgram},
		"program":         {fakeTerraform(t, `{"terraform_version": "1.9.8"}`), VersionFromProgram},
		"that fails":      {fakeTerraform(t, "fail"), SilentProgram},
		"that is old":     {fakeTerraform(t, "Terraform v0.12.31"), OldProgram},
	} {
		_, from, err := findVersion(c.meta, getproviders.Terraform(""), true)
		must.Succeed(t, err, name)
		wantsProgram := c.want >= VersionFromProgram
		if from.Kind != c.want || (from.Program != "") != wantsProgram {
			t.Errorf("%s: %+v, want kind %d", name, from, c.want)
		}
	}
}
