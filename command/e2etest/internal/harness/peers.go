package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/peertest"
)

// LookTerraform returns the path of the real terraform, or skips the test without
// one.
func LookTerraform(tb testing.TB) string {
	tb.Helper()
	return peertest.LookTerraform(tb)
}

// LookTofu returns the path of OpenTofu, or skips the test without it, even where
// other programs are required: Linux distributions don't package it.
func LookTofu(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("a short test doesn't run tofu")
	}
	path, err := peertest.PeerProgram("tofu")
	if err != nil {
		tb.Skipf("there is no tofu: %v", err)
	}
	return path
}

// Clients are the programs that install from servers and mirrors, each with the function that finds it.
var Clients = map[string]func(testing.TB) string{"terraform": LookTerraform, "tofu": LookTofu, "tfdeps": Tfdeps}

// RequireProgram skips a test without a program that it needs.
func RequireProgram(tb testing.TB, name string) {
	tb.Helper()
	peertest.LookProgram(tb, name)
}

// PeerOlderThan reports whether the real terraform is older than a version such as
// "1.15", so that the behaviour of newer ones can't be compared with it.
func PeerOlderThan(tb testing.TB, since string) bool {
	tb.Helper()
	running, err := terraformVersion()
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Compare(numbersOf(running), numbersOf(since)) < 0
}

// numbersOf returns the numbers of a version, without the suffix of a prerelease.
func numbersOf(version string) (numbers []int) {
	version, _, _ = strings.Cut(version, "-")
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		numbers = append(numbers, n)
	}
	return numbers
}

// LeftOut reports whether the session of a name is skipped: four in five are with
// -short, or with [sessionsVariable].
func LeftOut(name string) bool {
	return (testing.Short() || os.Getenv(sessionsVariable) == "few") && !peertest.OneInFive(name)
}

// SkipIfShort skips a test of whole programs with -short, because tests beside the
// code cover its parts.
func SkipIfShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("a short test has the parts do this, and no program")
	}
}

// notUnderWine are cases in which Terraform can't do there what it does elsewhere, with the reasons.
var notUnderWine = map[string]string{
	"TestInit_SameAsTerraform/modules_odd_record":                      "Windows removes no file that is open, which Terraform tries",
	"TestModules_SameAsTofu/registry_constraint_changed":               "Wine refuses to remove a file of git's",
	"TestModules_SameAsTerraform/registry_glob":                        "Windows has no such names",
	"TestSources_SameAsTerraform/directory,_mirror,_registry":          "Wine makes no symbolic links, and tells Terraform that it does",
	"TestSources_SameAsTerraform/order_of_implied_directories_outside": "Wine makes no symbolic links, and tells Terraform that it does",
}

// PeerCase is [peertest.PeerCase] for the case of a subtest.
func PeerCase(t *testing.T) {
	t.Helper()
	if why := notUnderWine[t.Name()]; why != "" && runtime.GOOS == "windows" {
		t.Skip(why)
	}
	peertest.PeerCase(t, t.Name())
}

// terraformVersion asks the real terraform, once for all tests.
var terraformVersion = sync.OnceValues(func() (string, error) {
	program, err := peertest.PeerProgram("terraform")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program, "version", "-json")
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("terraform version: %w%s", err, StderrOf(err))
	}
	var said struct {
		Version string `json:"terraform_version"`
	}
	err = json.Unmarshal(out, &said)
	return said.Version, err
})

// sessionsVariable is a variable. If it is "few", as few sessions run as with -short.
const sessionsVariable = "TFDEPS_TEST_SESSIONS"
