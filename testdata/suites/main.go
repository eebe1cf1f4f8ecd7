// Command suites runs the end-to-end tests of Terraform or OpenTofu twice, with the real program and with tfdeps in
// its place, and prints where the results differ.
//
//	go run ./testdata/suites CHECKOUT TFDEPS [NAME=VALUE...] [-test.run=...]
//
// CHECKOUT is a directory with the product's source, or MODULE@VERSION of the Go module proxy, such as github.com/opentofu/opentofu@v1.12.6. (Terraform's
// module lacks the modules nested in its tree, and can't be built.) The program and its tests are built first, which takes minutes; SUITES_BUILT=DIRECTORY keeps
// them. TFDEPS is the path of tfdeps. The tests build the program with go, which is replaced by a script that links one of the two instead.
// A registry on this machine replaces those of both products. Its packages can be installed but do nothing; there is no other
// network. Intended differences are printed with their number in docs/differences.md; other differences are errors.
// docs/house/upstream.md says when to run it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// explained are the tests that pass only with the real program, by the beginning of their names, with the numbers of
// the differences that make them fail.
var explained = map[string]string{
	"TestInitProviderNotFound/":                                     "11", // the words below a summary
	"TestJsonIntoStream/init":                                       "60", // lines with times
	"TestProviderCacheJunk":                                         "3",
	"TestProviderDevOverrides":                                      "44",
	"TestProviderLocksFromPredecessorProjectWithAbsoluteSourceAddr": "44",
	"TestStaticPlanVariables/":                                      "40", // a mirror without packages
	"TestSymlinkProviderTargetDirectory":                            "3",
}

// published are the packages that the tests need.
var published = map[string][]string{
	"hashicorp/null": {"2.1.0", "2.1.2", "3.1.0", "3.2.0"}, "hashicorp/template": {"2.1.0", "2.1.1", "2.2.0"}, "hashicorp/local": {"2.5.3"},
	"hashicorp/random": {"3.8.1"}, "hashicorp/aws": {"5.0.0"}, "hashicorp/tfcoremock": {"0.1.1"}, "vmware/vsphere": {"2.14.0"}, "yottta/sleep": {"0.0.5"},
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: suites CHECKOUT|MODULE@VERSION TFDEPS [NAME=VALUE...] [-test.run=...]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// suite has the paths of a product's program and tests.
type suite struct{ product, program, tests, source string }

// build builds the program and its tests, unless an earlier run did.
func build(checkout, dir string) (suite, error) {
	if strings.Contains(checkout, "@") {
		said, err := exec.Command("go", "mod", "download", "-json", checkout).Output()
		var module struct{ Dir string }
		if err := errors.Join(err, json.Unmarshal(said, &module)); err != nil {
			return suite{}, fmt.Errorf("downloading %s: %w\n%s", checkout, err, said)
		}
		checkout = module.Dir
	}
	s := suite{product: "terraform", tests: filepath.Join(dir, "e2etest"), source: filepath.Join(checkout, "internal", "command", "e2etest")}
	main := "."
	if _, err := os.Stat(filepath.Join(checkout, "cmd", "tofu")); err == nil {
		s.product, main = "tofu", "./cmd/tofu"
	}
	s.program = filepath.Join(dir, s.product)
	for made, line := range map[string][]string{s.program: {"build", "-o", s.program, main}, s.tests: {"test", "-c", "-o", s.tests, s.source}} {
		if _, err := os.Stat(made); err == nil {
			continue
		}
		cmd := exec.Command("go", line...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = checkout, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false")
		if err := cmd.Run(); err != nil {
			return s, fmt.Errorf("building %s in %s: %w", filepath.Base(made), checkout, err)
		}
	}
	return s, nil
}

// impostor is a script in the place of the go command. In the place of the product's program it writes a script that runs another program.
const impostor = `#!/bin/sh
for last; do :; done
case $last in
github.com/hashicorp/terraform | github.com/opentofu/opentofu/cmd/tofu)
	printf '#!/bin/sh\nexec "%%s" "$@"\n' '%s' >"$3"
	chmod +x "$3" ;;
*)
	exec %s "$@" ;;
esac
`

func run(checkout, tfdeps string, rest []string) error {
	tfdeps, err := filepath.Abs(tfdeps)
	if err != nil {
		return err
	}
	if !strings.Contains(checkout, "@") {
		if checkout, err = filepath.Abs(checkout); err != nil {
			return err
		}
	}
	built := os.Getenv("SUITES_BUILT")
	if built == "" {
		if built, err = os.MkdirTemp("", "suites-"); err != nil {
			return err
		}
		defer os.RemoveAll(built)
	} else if built, err = filepath.Abs(built); err != nil { // absolute, because the program is built in its checkout
		return err
	}
	s, err := build(checkout, built)
	if err != nil {
		return err
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	registry, err := providertest.NewRegistry(providertest.Options{})
	if err != nil {
		return err
	}
	defer registry.Close()
	for name, versions := range published {
		namespace, typ, _ := strings.Cut(name, "/")
		for _, version := range versions {
			registry.Add(providertest.PackageSpec{Namespace: namespace, Type: typ, Version: version})
		}
	}
	var results [2]map[string]string
	for i, place := range []string{"real", "ours"} {
		dir, err := os.MkdirTemp("", "suites-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := s.link(dir, place, tfdeps, goCommand); err != nil {
			return err
		}
		env, err := registry.Env(dir, "registry.terraform.io", "registry.opentofu.org")
		if err != nil {
			return err
		}
		env = append(env, "PATH="+filepath.Join(dir, "real")+string(filepath.ListSeparator)+os.Getenv("PATH"), "CHECKPOINT_DISABLE=1", "TF_ACC=1",
			"TFDEPS_NO_SHARED_CACHE=1", // with a shared cache the output differs (difference 36)
			"HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=localhost,127.0.0.1")
		results[i] = tests(s.tests, s.source, append(env, rest...))
	}
	return compare(results)
}

// link makes symlinks to the real program and to tfdeps below a directory, and a go command that replaces the built program
// by the one in place.
func (s suite) link(dir, place, tfdeps, goCommand string) error {
	for sub, target := range map[string]string{"real": s.program, "ours": tfdeps} { // tfdeps finds the real program on PATH
		link := filepath.Join(dir, sub, s.product)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(target, link); err != nil {
			return err
		}
	}
	script := fmt.Sprintf(impostor, filepath.Join(dir, place, s.product), goCommand)
	return os.WriteFile(filepath.Join(dir, "real", "go"), []byte(script), 0o755)
}

// outcome matches the line at the end of a test.
var outcome = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`)

// port matches the port of a local server, which differs in each run.
var port = regexp.MustCompile(`:\d{4,5}\b`)

// tests runs the tests, and returns the result of each.
func tests(program, dir string, rest []string) map[string]string {
	cmd := exec.Command(program, "-test.v", "-test.timeout=30m", "-test.skip=^TestFunction_") // without their provider, these tests end the whole run
	cmd.Dir, cmd.Env = dir, os.Environ()
	for _, word := range rest {
		if strings.HasPrefix(word, "-") {
			cmd.Args = append(cmd.Args, word)
		} else {
			cmd.Env = append(cmd.Env, word)
		}
	}
	said, _ := cmd.CombinedOutput() // failed tests are a result
	results := map[string]string{}
	for _, found := range outcome.FindAllSubmatch(said, -1) {
		results[port.ReplaceAllString(string(found[2]), ":PORT")] = string(found[1])
	}
	if bytes.Contains(said, []byte("\npanic:")) || len(results) == 0 {
		fmt.Printf("the tests ended early:\n%s\n", said)
	}
	if path := os.Getenv("SUITES_LOG"); path != "" {
		if err := os.WriteFile(path, said, 0o644); err != nil {
			fmt.Println(err)
		}
	}
	return results
}

// compare prints the numbers of results, and the tests whose results differ.
func compare(results [2]map[string]string) error {
	for i, name := range []string{"the real program", "tfdeps"} {
		count := map[string]int{}
		for _, result := range results[i] {
			count[result]++
		}
		fmt.Printf("%-17s %3d pass, %3d fail, %3d are skipped\n", name, count["PASS"], count["FAIL"], count["SKIP"])
	}
	if len(results[0]) == 0 {
		return errors.New("no test ran with the real program")
	}
	unexplained := 0
	for _, name := range slices.Sorted(maps.Keys(results[0])) {
		ours := results[1][name]
		isParent := slices.ContainsFunc(slices.Collect(maps.Keys(results[0])), func(other string) bool { return strings.HasPrefix(other, name+"/") })
		if results[0][name] != "PASS" || ours == "PASS" || ours == "SKIP" || isParent { // missing results are of tests that ended early
			continue
		}
		why := "not explained"
		for beginning, number := range explained {
			if strings.HasPrefix(name+"$", beginning) {
				why = "difference " + number
			}
		}
		if fmt.Printf("%-14s %s\n", why, name); why == "not explained" {
			unexplained++
		}
	}
	if unexplained > 0 {
		return fmt.Errorf("%d tests pass with the real program and not with tfdeps, and no difference says why", unexplained)
	}
	return nil
}
