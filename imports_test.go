package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/zip"

	"github.com/tfdeps/tfdeps/internal/must"
)

// modulePath is what every import path of this module begins with.
const modulePath = "github.com/tfdeps/tfdeps"

// floors are the packages of this module, top first. A file imports what stands below its own floor, and a test also its own package and what is for tests.
var floors = table(`
.
command
command/initcmd command/getcmd command/providerscmd command/cachecmd command/vendorcmd command/servecmd command/doctorcmd command/policycmd
command/roots
command/sources
command/workdir command/products
command/cli
command/view
command/view/page command/view/result
command/view/explain
command/e2etest/bench command/e2etest/embed command/e2etest/faults command/e2etest/oracle command/e2etest/peers command/e2etest/sessions command/e2etest/sources command/e2etest/vendored command/e2etest/weight
command/e2etest/internal/harness command/view/screentest command/view/terminal providercache/setup
internal/places
configs internal/installtest providercache/mirror providercache/mirrorserver
internal/config/combine internal/config/fetch internal/config/vendored providercache/policy
internal/config/modulelock
internal/config/backend internal/config/modules providercache providercache/internal/archivedir
providercache/internal/lockhashes
internal/config/load providercache/internal/fetch
internal/config/outline internal/config/state providercache/internal/store
internal/config/static getproviders/providertest internal/hostiletest internal/oci/ocitest providercache/blob/blobtest providercache/internal/receipttest providercache/internal/resolve
configs/cliconfig depsfile internal/providertest internal/cause internal/config/bucket internal/config/static/functions internal/gcs internal/oci internal/s3 providercache/event internal/cachetest providercache/internal/download
internal/buckets
internal/cliblock internal/config/git internal/dialect internal/googlestorage internal/locktext internal/storagetest providercache/blob providercache/internal/receipt providercache/internal/staging providercache/internal/unpack
internal/remote internal/treehash
getproviders internal/bundle internal/config/files providercache/internal/statefile
internal/hosts
internal/disk
internal/link internal/scratch internal/wholefile
internal/filelock
command/problem internal/awslogin internal/chunks internal/config/diagnostic internal/during internal/hashing internal/layout internal/nesting internal/par internal/patient internal/spelling internal/owner internal/subprocess internal/must internal/peertest internal/wrapped providercache/internal/unpack/inflate
`)

// apart are parts of the house of which neither knows the other: the beginnings of their directories. What assembles them, assembly, knows both.
var apart = [][2]string{
	{"providercache", "command"}, {"providercache", "configs"}, {"providercache", "internal/config"}, {"depsfile", "configs"}, {"getproviders", "depsfile"},
}

const assembly = "providercache/setup"

// moreForTests says what tests of a package import from its own floor or from above.
var moreForTests = map[string][]string{
	"providercache":                     {"providercache/mirror"},
	"providercache/internal/archivedir": {"providercache"},
	"providercache/internal/lockhashes": {"providercache"},
}

// startedByUser are the files that start what the user asks for, in the working directory: the real program, and the
// command of serve. Its version is asked for there, too, because version managers choose by the directory. All other programs
// are started by internal/subprocess.
var startedByUser = []string{"command/passthrough_unix.go", "command/passthrough_windows.go", "command/initcmd/handover.go",
	"command/products/version.go", "command/servecmd/child.go"}

// startPrograms are packages of others that start programs in the working directory.
var startPrograms = []string{"oras.land/oras-go/v2/registry/remote/credentials", "github.com/aws/aws-sdk-go-v2/credentials/processcreds"}

// process are the names of package os by which a program reaches its process.
var process = regexp.MustCompile(`^(os\.(Args|Environ|Exit|Getenv|LookupEnv|Setenv|Unsetenv|Clearenv|ExpandEnv|User\w+Dir|Stdin|Stdout|Stderr|Chdir)|syscall\.(Getenv|Environ|Exit))$`)

// starts are the functions that start a program.
var starts = regexp.MustCompile(`^(os/exec\.Command(Context)?|os\.StartProcess|syscall\.(Exec|ForkExec|StartProcess)|golang\.org/x/sys/(unix\.Exec|windows\.CreateProcess))$`)

// replaces are the functions of package os that internal/patient has, too.
var replaces = regexp.MustCompile(`^os\.(Rename|Remove|RemoveAll)$`)

// removesUnlocked removes what no process has open, and must not wait until that is true.
const removesUnlocked = "internal/wholefile/wholefile.go"

// ownCommand is a command of tfdeps in a text. "tfdeps help" is right in each: behind a link, help is the real program's.
var ownCommand = regexp.MustCompile(`\btfdeps\s+(\[global|cache|doctor|get|hash|init|outdated|policy|providers|roots|serve|vendor|version|why)\b`)

// namesItself are the files with help of the program as a whole, names in certificates and logins, and comments in files that others read.
var namesItself = []string{"command/help.go", "command/servecmd/certificates.go", "command/servecmd/front.go",
	"internal/config/modulelock/file.go", "internal/config/vendored/blocks.go"}

// thirdParty has a row for every module of others that files of this module may import: where, which are packages or single files, or "tests"
// for test files everywhere. What for is in CONTRIBUTING.md. A module that isn't here is an error, wherever it is imported; so is a place that
// doesn't use it.
var thirdParty = table(`
oras.land/oras-go/v2 internal/oci
github.com/opencontainers/image-spec internal/oci
github.com/opencontainers/go-digest internal/oci tests
github.com/hashicorp/go-version configs/cliconfig internal/config/load internal/config/state internal/config/modules internal/config/modulelock
github.com/ProtonMail/go-crypto getproviders/authenticate_packets.go getproviders/authenticate_signature.go internal/providertest tests
github.com/hashicorp/hcl/v2 internal/config/load internal/config/backend internal/config/modules internal/config/modulelock internal/config/combine configs depsfile internal/locktext internal/nesting command/problem command/view/explain command/view/result internal/config/diagnostic internal/config/outline internal/config/state internal/config/static internal/config/static/functions internal/config/vendored providercache/policy
github.com/hashicorp/go-getter/v2 internal/config/fetch
github.com/ulikunitz/xz tests
github.com/mikelolasagasti/xz internal/config/fetch
github.com/aws/aws-sdk-go-v2 internal/config/bucket internal/awslogin internal/s3
github.com/aws/aws-sdk-go-v2/config internal/awslogin
github.com/aws/aws-sdk-go-v2/credentials internal/awslogin tests
github.com/aws/aws-sdk-go-v2/feature/ec2/imds internal/awslogin
github.com/aws/aws-sdk-go-v2/service/s3 internal/config/bucket internal/s3
github.com/aws/smithy-go internal/awslogin internal/s3
golang.org/x/oauth2 internal/googlestorage tests
github.com/hashicorp/hcl configs/cliconfig
github.com/zclconf/go-cty internal/config/load internal/config/backend internal/config/state depsfile internal/locktext internal/config/static internal/config/static/functions tests
github.com/hashicorp/go-cty-funcs internal/config/static/functions
github.com/zclconf/go-cty-yaml internal/config/static/functions tests
github.com/apparentlymart/go-cidr internal/config/static/functions
github.com/bmatcuk/doublestar/v4 command/roots internal/config/static/functions internal/config/vendored
golang.org/x/text internal/config/fetch internal/config/static/functions command/view/terminal
github.com/mitchellh/cli command
github.com/agext/levenshtein internal/spelling
github.com/mattn/go-shellwords command
github.com/hashicorp/terraform-svchost internal/hosts
github.com/hashicorp/go-retryablehttp internal/hosts
github.com/VictoriaMetrics/metrics command/servecmd
golang.org/x/net command/servecmd getproviders internal/hosts
github.com/klauspost/compress providercache/internal/unpack tests
golang.org/x/sys internal/filelock internal/disk internal/owner providercache/internal/receipt providercache/internal/staging internal/link internal/patient internal/subprocess command/view/terminal internal/cachetest internal/installtest internal/peertest tests
github.com/CycloneDX/cyclonedx-go tests
golang.org/x/term command/view/terminal
golang.org/x/mod internal/installtest tests
github.com/rogpeppe/go-internal tests
github.com/santhosh-tekuri/jsonschema/v6 command/e2etest/sessions tests
github.com/hanwen/go-fuse/v2 command tests
go.uber.org/goleak tests
`)

// table has the words of each line.
func table(text string) (rows [][]string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}

// TestTree_KeepsTheRules reads every Go file of this module, for all systems
// and not only the one that the test runs on.
func TestTree_KeepsTheRules(t *testing.T) {
	atTheTop := 0
	for _, f := range readTree(t) {
		if f.test && f.dir == "." {
			atTheTop++
		}
		for _, problem := range f.problems() {
			t.Errorf("%s:%s", f.path(), problem)
		}
	}
	if atTheTop > 4 {
		t.Errorf("beside main.go there are %d files of tests, want 4 at most", atTheTop)
	}
}

// TestDependencyTable_MatchesGoMod: every module that go.mod asks for directly has a row, and every place in a row uses the module.
func TestDependencyTable_MatchesGoMod(t *testing.T) {
	src := must.Get(os.ReadFile("go.mod"))(t)
	mod := must.Get(modfile.Parse("go.mod", src, nil))(t)
	var direct []string
	for _, req := range mod.Require {
		if !req.Indirect {
			direct = append(direct, req.Mod.Path)
		}
	}
	for _, problem := range dependencyProblems(thirdParty, direct, readTree(t)) {
		t.Error(problem)
	}
}

// TestGoMod_CanBeInstalledFromATag: "go install MODULE@VERSION" refuses a go.mod that replaces or excludes modules, and
// a tree that doesn't fit in the archive of a module.
func TestGoMod_CanBeInstalledFromATag(t *testing.T) {
	src := must.Get(os.ReadFile("go.mod"))(t)
	mod := must.Get(modfile.Parse("go.mod", src, nil))(t)
	if mod.Module.Mod.Path != modulePath || len(mod.Replace)+len(mod.Exclude) > 0 {
		t.Errorf("go.mod of %s has %d replace and %d exclude lines", mod.Module.Mod.Path, len(mod.Replace), len(mod.Exclude))
	}
	files, err := zip.CheckDir(".")
	if err != nil || files.SizeError != nil || !slices.Contains(files.Valid, "main.go") {
		t.Errorf("%v, %v: the archive of the module would have %d files", err, files.SizeError, len(files.Valid))
	}
	for _, file := range files.Invalid {
		t.Errorf("%s can't be in the archive of a module: %v", file.Path, file.Err)
	}
}

// TestContributing_NamesEveryDependency keeps the table that people read in
// step with the one that is enforced.
func TestContributing_NamesEveryDependency(t *testing.T) {
	src := must.Get(os.ReadFile("CONTRIBUTING.md"))(t)
	reason := regexp.MustCompile(`(?m)^\|([^|]*)\|[^|]*\| *[^ |-]`) // modules, where, why
	var modules strings.Builder
	for _, row := range reason.FindAllStringSubmatch(string(src), -1) {
		modules.WriteString(row[1])
	}
	for _, row := range thirdParty {
		must.Contain(t, modules.String(), "`"+row[0]+"`")
	}
}

// readTree returns the Go files of this module: not those below testdata, in
// hidden directories or in other modules.
func readTree(t *testing.T) []goFile {
	t.Helper()
	files := must.Get(parsedTree())(t)
	if !slices.ContainsFunc(files, func(f goFile) bool { return f.dir == "getproviders" && !f.test }) {
		t.Fatalf("found %d files, none of them in getproviders: this test looks in the wrong place", len(files))
	}
	return files
}

// parsedTree parses them once for all tests.
var parsedTree = sync.OnceValues(func() (files []goFile, err error) {
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parseFile(filepath.ToSlash(name), string(src))
		files = append(files, f)
		return err
	})
	return files, err
})
