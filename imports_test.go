package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/zip"
)

// modulePath is what every import path of this module begins with.
const modulePath = "github.com/tfdeps/tfdeps"

// forCommands is what every folder of a command may import.
var forCommands = []string{"command/cli", "command/problem", "command/products", "command/sources", "command/view", "command/workdir",
	"providercache", "providercache/event", "providercache/fetcher", "providercache/link", "providercache/lockhashes", "providercache/mirror",
	"providercache/resolve", "providercache/store", "providercache/vendoring", "depsfile", "getproviders"}

// layers says for each package which other packages of this module its files may import. A
// package that isn't here doesn't belong to the tree. What is on top comes
// first; imports only ever point downwards.
var layers = map[string][]string{
	".": {"command"},
	"command": {"command/cli", "command/problem", "command/products", "command/view", "command/initcmd", "command/getcmd", "command/providerscmd", "command/cachecmd", "command/servecmd",
		"command/vendorcmd", "command/doctorcmd", "depsfile", "getproviders", "getproviders/hosts", "getproviders/par"},

	// The commands. None imports another.
	"command/initcmd": slices.Concat(forCommands, []string{"configs", "configs/backend", "configs/cliconfig", "configs/modules", "configs/modules/modulelock",
		"getproviders/hosts", "getproviders/scratch", "getproviders/wholefile"}),
	"command/getcmd":       slices.Concat(forCommands, []string{"configs/modules"}),
	"command/providerscmd": slices.Concat(forCommands, []string{"providercache/blob", "configs", "configs/backend", "configs/cliconfig", "configs/modules", "getproviders/par", "getproviders/scratch"}),
	"command/cachecmd":     slices.Concat(forCommands, []string{"configs/modules/fetch", "providercache/transfer"}),
	"command/servecmd":     slices.Concat(forCommands, []string{"configs/cliconfig", "configs/modules", "getproviders/hosts", "getproviders/par", "getproviders/scratch", "getproviders/wholefile", "providercache/blob", "providercache/mirrorserver"}),
	"command/vendorcmd": slices.Concat(forCommands, []string{"configs/modules", "configs/modules/modulelock", "configs/modules/vendored",
		"getproviders/scratch", "providercache/bundle"}),

	"command/doctorcmd": slices.Concat(forCommands, []string{"configs/cliconfig", "getproviders/hosts", "getproviders/par", "getproviders/scratch"}),

	"command/sources": {"providercache/transfer", "providercache/mirror", "providercache/oci", "providercache/blob", "providercache/blob/gcs", "providercache/blob/s3", "getproviders/hosts", "providercache/policy", "providercache/fetcher", "depsfile", "command/cli", "command/problem", "command/workdir", "configs/cliconfig", "configs/modules", "configs/modules/fetch",
		"providercache/resolve", "providercache/store", "getproviders", "getproviders/wholefile", "getproviders/subprocess", "getproviders/owner"},
	"command/workdir": {"command/cli", "command/problem", "command/view", "configs", "configs/backend", "configs/modules", "configs/modules/modulelock",
		"configs/requirements", "providercache/store", "depsfile", "getproviders", "getproviders/par"},
	"command/products": {"command/cli", "command/problem", "getproviders", "getproviders/wholefile"},
	"command/cli":      {"command/problem", "command/view", "providercache/fetcher", "getproviders", "getproviders/hosts"},
	"command/problem":  {},
	"command/view": {"command/problem", "configs/modules", "providercache", "providercache/archivedir", "providercache/event", "providercache/link",
		"providercache/lockhashes", "providercache/mirror", "providercache/resolve", "providercache/store", "providercache/transfer", "depsfile/nesting", "getproviders", "getproviders/hosts", "getproviders/par"},

	"configs":                     {"configs/internal/diagnostic", "configs/internal/files", "configs/internal/state", "configs/static", "getproviders", "getproviders/par", "getproviders/wholefile"},
	"configs/internal/diagnostic": {},
	"configs/internal/files":      {"getproviders/wholefile"},
	"configs/internal/state":      {"configs/static"},
	"configs/static":              {"configs/internal/diagnostic", "configs/static/functions", "depsfile/nesting"},
	"configs/static/functions":    {"configs/internal/files"},
	"configs/backend":             {"configs", "configs/static", "getproviders", "getproviders/par", "getproviders/wholefile"},
	"configs/cliconfig":           {"getproviders", "getproviders/hosts", "getproviders/wholefile"},
	"configs/modules":             {"configs", "configs/internal/diagnostic", "configs/internal/files", "getproviders", "getproviders/hosts", "getproviders/par", "getproviders/scratch", "getproviders/wholefile"},
	"configs/modules/fetch": {"configs/modules", "configs/modules/internal/bucket", "configs/modules/internal/git", "getproviders", "getproviders/hosts",
		"getproviders/par", "getproviders/scratch", "getproviders/wholefile", "getproviders/subprocess"},
	"configs/modules/internal/bucket": {"getproviders/awslogin", "getproviders/googlestorage", "getproviders/hosts", "getproviders/par"},
	"configs/modules/internal/git":    {"getproviders/filelock", "getproviders/hosts", "getproviders/par", "getproviders/scratch", "getproviders/subprocess", "getproviders/owner", "getproviders/wholefile"},
	"configs/modules/modulelock":      {"depsfile", "getproviders", "getproviders/par"},
	"configs/requirements":            {"configs", "configs/backend", "configs/modules", "depsfile", "getproviders"},
	"configs/modules/vendored":        {"configs/modules/modulelock", "depsfile", "getproviders", "getproviders/scratch", "getproviders/wholefile"},

	// What others embed. Nothing below this line may import anything above it.
	"providercache": {"providercache/store", "providercache/fetcher", "providercache/resolve", "providercache/event", "providercache/link",
		"providercache/internal/disk", "providercache/internal/download", "providercache/internal/receipt", "providercache/internal/staging",
		"providercache/internal/unpack", "depsfile", "getproviders", "getproviders/par", "getproviders/scratch"},
	"providercache/vendoring": {"providercache/archivedir", "providercache/lockhashes", "providercache/fetcher", "providercache/resolve", "providercache/link",
		"providercache/internal/receipt", "providercache/internal/staging", "depsfile", "getproviders", "getproviders/par", "getproviders/scratch"},
	"providercache/mirror": {"providercache/archivedir", "providercache/blob", "providercache/internal/chunks", "providercache/lockhashes", "providercache/fetcher", "providercache/resolve", "providercache/event",
		"providercache/internal/receipt", "getproviders", "getproviders/hosts", "getproviders/par", "getproviders/scratch"},
	"providercache/mirrorserver": {"providercache/blob", "providercache/fetcher", "providercache/resolve", "getproviders", "getproviders/hosts", "getproviders/par",
		"getproviders/scratch"},
	"providercache/transfer": {"providercache", "providercache/blob", "providercache/event", "providercache/fetcher", "providercache/internal/chunks", "providercache/mirror",
		"providercache/resolve", "getproviders", "getproviders/hosts", "getproviders/par", "getproviders/scratch"},
	"providercache/archivedir": {"providercache/fetcher", "providercache/resolve", "providercache/internal/chunks", "providercache/internal/download",
		"providercache/internal/receipt", "providercache/internal/staging", "providercache/internal/unpack", "getproviders", "getproviders/par", "getproviders/scratch",
		"getproviders/wholefile"},
	"providercache/lockhashes": {"providercache/fetcher", "providercache/resolve", "providercache/internal/download", "providercache/internal/receipt",
		"depsfile", "getproviders", "getproviders/par"},
	"providercache/fetcher": {"providercache/store", "providercache/resolve", "providercache/event", "providercache/link",
		"providercache/internal/chunks", "providercache/internal/download", "providercache/internal/receipt", "providercache/internal/staging", "providercache/internal/unpack",
		"getproviders", "getproviders/hosts", "getproviders/par", "getproviders/scratch"},
	"providercache/policy": {"providercache/fetcher", "getproviders/owner", "depsfile", "depsfile/nesting", "getproviders", "getproviders/hosts", "getproviders/wholefile"},
	"providercache/store": {"providercache/event", "providercache/resolve", "providercache/internal/disk", "providercache/internal/download", "getproviders/owner", "providercache/internal/receipt",
		"providercache/internal/staging", "providercache/internal/statefile", "providercache/internal/unpack", "depsfile", "getproviders",
		"getproviders/filelock", "getproviders/par", "getproviders/scratch"},
	"providercache/resolve":          {"providercache/event", "depsfile", "getproviders", "getproviders/hosts", "getproviders/par"},
	"providercache/event":            {"providercache/link", "getproviders"},
	"providercache/bundle":           {"getproviders/par", "getproviders/scratch"},
	"providercache/blob":             {"providercache/internal/chunks", "getproviders/filelock", "getproviders/hosts", "getproviders/scratch"},
	"providercache/oci":              {"getproviders", "getproviders/hosts", "getproviders/par", "getproviders/wholefile", "getproviders/subprocess"},
	"providercache/blob/gcs":         {"providercache/blob", "providercache/internal/chunks", "getproviders/googlestorage", "getproviders/hosts"},
	"providercache/blob/s3":          {"providercache/blob", "getproviders/awslogin", "getproviders/hosts"},
	"providercache/internal/receipt": {"getproviders/owner", "providercache/internal/statefile", "getproviders", "getproviders/par"},
	"providercache/internal/statefile": {"getproviders/owner", "getproviders/filelock", "getproviders/par", "getproviders/scratch",
		"getproviders/wholefile"},
	"providercache/internal/download": {"getproviders", "getproviders/filelock", "getproviders/hosts", "getproviders/par", "getproviders/scratch",
		"providercache/internal/chunks", "getproviders/owner", "providercache/internal/staging"},
	"providercache/internal/unpack":         {"getproviders", "getproviders/par", "providercache/internal/chunks", "providercache/internal/unpack/inflate"},
	"providercache/internal/unpack/inflate": {},
	"providercache/internal/staging":        {"getproviders", "getproviders/par", "getproviders/scratch"},
	"providercache/link":                    {"providercache/internal/chunks", "getproviders/owner"},
	"providercache/internal/chunks":         {},
	"providercache/internal/disk":           {"getproviders/scratch"},
	"depsfile":                              {"depsfile/nesting", "getproviders", "getproviders/wholefile"},
	"depsfile/nesting":                      {},
	"getproviders":                          {"getproviders/hosts", "getproviders/par", "getproviders/wholefile"},
	"getproviders/hosts":                    {"getproviders/par", "getproviders/wholefile", "getproviders/subprocess"},
	"getproviders/awslogin":                 {},
	"getproviders/googlestorage":            {"getproviders/hosts", "getproviders/par"},
	"getproviders/filelock":                 {"getproviders/par"},
	"getproviders/owner":                    {},
	"getproviders/par":                      {},
	"getproviders/scratch":                  {"getproviders/filelock"},
	"getproviders/subprocess":               {},
	"getproviders/wholefile":                {"getproviders/filelock"},

	// Test support. Only tests import it; see testSupport.
	"getproviders/providertest":          {"getproviders", "getproviders/hosts"},
	"command/view/screentest":            {"getproviders/providertest"},
	"providercache/oci/ocitest":          {"getproviders/hosts", "getproviders/providertest"},
	"providercache/blob/blobtest":        {"providercache/blob", "getproviders/par", "getproviders/providertest"},
	"providercache/internal/cachetest":   {"getproviders"},
	"providercache/internal/installtest": {"depsfile", "getproviders", "getproviders/hosts", "getproviders/providertest", "providercache", "providercache/fetcher", "providercache/lockhashes", "providercache/resolve", "providercache/store"},
	"providercache/internal/receipttest": {"providercache/internal/cachetest", "providercache/internal/receipt"},
	harness:                              {"depsfile", "getproviders", "getproviders/providertest"},

	// Tests of the whole program, which they run. What they import are values to
	// compare.
	"command/e2etest/bench":    {"depsfile", "getproviders", "getproviders/par"},
	"command/e2etest/embed":    {"getproviders"},
	"command/e2etest/faults":   {"depsfile", "getproviders"},
	"command/e2etest/oracle":   {"getproviders"},
	"command/e2etest/peers":    {},
	"command/e2etest/sessions": {"depsfile", "getproviders"},
	"command/e2etest/sources":  {"depsfile", "getproviders", "providercache/blob/blobtest", "providercache/oci/ocitest"},
	"command/e2etest/vendored": {"getproviders", "getproviders/filelock"},
	"command/e2etest/weight":   {},
}

// moreForTests says what a package's tests may import beside that.
var moreForTests = map[string][]string{
	"command":                         {"providercache/resolve"},
	"providercache":                   {"providercache/lockhashes", "providercache/mirror", "providercache/vendoring", "getproviders/filelock", "getproviders/hosts"},
	"providercache/internal/download": {"providercache/internal/unpack"},
	"providercache/internal/receipt":  {"providercache/link", "getproviders/filelock"},
	"providercache/lockhashes":        {"providercache", "providercache/event", "providercache/internal/unpack"},
	"providercache/mirror":            {"depsfile", "providercache", "providercache/blob/s3"},
	"providercache/store":             {"providercache/link"},
	"providercache/transfer":          {"providercache/store"},
	"providercache/vendoring":         {"providercache"},
}

// testSupport are the packages that tests may import and production code may
// not. Some stop tests, and import testing for that.
var (
	testSupport = []string{"getproviders/providertest", "command/view/screentest", "providercache/blob/blobtest", "providercache/oci/ocitest", "providercache/internal/cachetest", "providercache/internal/installtest", "providercache/internal/receipttest", harness}
	stopsTests  = []string{"command/view/screentest", "providercache/blob/blobtest", "providercache/oci/ocitest", "providercache/internal/cachetest", "providercache/internal/installtest", "providercache/internal/receipttest", harness}
)

const harness = "command/e2etest/internal/harness"

// coinedWords once stood for something here, and told nothing to who read them
// for the first time. The field's own words took their place (CONTRIBUTING.md has
// them). Each is one word or several, as in an identifier; a plural counts, too.
var coinedWords = []string{
	"genuine", "sighting", "looker", "shelf", "shelves", "upkeep",
	"foretell", "Foreteller", "foretold", "Offhand", "Rejudger", "rejudge", "HashTeller", "hashesTold",
	"BelieveRegistries", "BelieveSources", "KeptPackage", "NotKept", "KeptOut", "PassedOver",
	"Spared", "takenOut", "ErrNotOurs", "Unvouched", "divisible",
	"materialise", "materialised", "ladder", "homeless", "misfit", "workshop",
}

// coinedTypes are words that mean something, but not as these types did.
var coinedTypes = []string{"edition", "follower", "keeper", "landing"}

// allowance says where a module of others may be used. What for is in CONTRIBUTING.md.
type allowance struct {
	module string
	where  string // packages, or single files of them, with blanks between
	tests  bool   // test files everywhere may use it too
}

// thirdParty lists every module of others that files of this module may import. One
// that isn't here is an error, wherever it is imported; so is a row that
// nothing uses.
var thirdParty = []allowance{
	{"oras.land/oras-go/v2", "providercache/oci", false},
	{"github.com/opencontainers/image-spec", "providercache/oci", false},
	{"github.com/opencontainers/go-digest", "providercache/oci", true},
	{"github.com/hashicorp/go-version", "configs configs/internal/state configs/modules configs/modules/modulelock", false},
	{"github.com/ProtonMail/go-crypto", "getproviders/authenticate_packets.go getproviders/authenticate_signature.go getproviders/providertest", true},
	{"github.com/hashicorp/hcl/v2", "configs configs/backend configs/modules configs/modules/modulelock configs/requirements depsfile depsfile/nesting " +
		"command/problem command/view configs/internal/diagnostic configs/internal/state configs/static " +
		"configs/static/functions providercache/policy",
		false},
	{"github.com/hashicorp/go-getter/v2", "configs/modules/fetch", false},
	{"github.com/ulikunitz/xz", "configs/modules/fetch", false},
	{"github.com/aws/aws-sdk-go-v2", "configs/modules/internal/bucket getproviders/awslogin providercache/blob/s3", false},
	{"github.com/aws/aws-sdk-go-v2/config", "getproviders/awslogin", false},
	{"github.com/aws/aws-sdk-go-v2/credentials", "getproviders/awslogin", true},
	{"github.com/aws/aws-sdk-go-v2/feature/ec2/imds", "getproviders/awslogin", false},
	{"github.com/aws/aws-sdk-go-v2/service/s3", "configs/modules/internal/bucket providercache/blob/s3", false},
	{"github.com/aws/smithy-go", "getproviders/awslogin providercache/blob/s3", false},
	{"golang.org/x/oauth2", "getproviders/googlestorage", true},
	{"github.com/hashicorp/hcl", "configs/cliconfig", false},
	{"github.com/zclconf/go-cty", "configs configs/backend configs/internal/state depsfile configs/static configs/static/functions", true},
	{"github.com/hashicorp/go-cty-funcs", "configs/static/functions", false},
	{"github.com/zclconf/go-cty-yaml", "configs/static/functions", true},
	{"github.com/apparentlymart/go-cidr", "configs/static/functions", false},
	{"github.com/bmatcuk/doublestar/v4", "configs/static/functions", false},
	{"golang.org/x/text", "configs/static/functions command/view", false},
	{"github.com/mitchellh/cli", "command", false},
	{"github.com/agext/levenshtein", "command/cli", false},
	{"github.com/mattn/go-shellwords", "command", false},
	{"github.com/hashicorp/terraform-svchost", "getproviders/hosts", false},
	{"github.com/hashicorp/go-retryablehttp", "getproviders/hosts", false},
	{"golang.org/x/crypto", "command/servecmd", false},
	{"github.com/prometheus/client_golang", "command/servecmd", false},
	{"golang.org/x/net", "command/servecmd getproviders getproviders/hosts", false},
	{"github.com/klauspost/compress", "providercache/internal/unpack providercache/transfer", true},
	{"golang.org/x/sys", "getproviders/filelock providercache/internal/disk getproviders/owner providercache/internal/receipt " +
		"providercache/internal/staging providercache/link command/servecmd",
		true},
	{"github.com/CycloneDX/cyclonedx-go", "", true},
	{"golang.org/x/term", "command/view", false},
	{"golang.org/x/mod", "providercache/internal/installtest", true},
	{"github.com/rogpeppe/go-internal", "", true},
	{"github.com/santhosh-tekuri/jsonschema/v6", "command/e2etest/sessions", true},
	{"github.com/hanwen/go-fuse/v2", "command", true},
	{"go.uber.org/goleak", "", true},
}

// TestTree_KeepsTheRules reads every Go file of this module, for all systems
// and not only the one that the test runs on.
func TestTree_KeepsTheRules(t *testing.T) {
	atTheTop := 0
	for _, f := range readTree(t) {
		if f.test && f.dir == "." {
			atTheTop++
		}
		for _, r := range treeRules {
			for _, problem := range r.check(f) {
				t.Errorf("%s: %s (rule %q)", f.path(), problem, r.name)
			}
		}
	}
	if atTheTop > 4 {
		t.Errorf("beside main.go there are %d files of tests, want 4 at most", atTheTop)
	}
}

// TestComments_LinkToWhatExists: go doc shows a link as plain text if nothing has the name, such as what was renamed.
func TestComments_LinkToWhatExists(t *testing.T) {
	for _, broken := range brokenCommentLinks(readTree(t)) {
		t.Error(broken)
	}
}

// TestDependencyTable_MatchesGoMod: every module that go.mod asks for directly
// has a row, every row is in go.mod and is used by some file.
func TestDependencyTable_MatchesGoMod(t *testing.T) {
	src, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		t.Fatal(err)
	}
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
	src, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		t.Fatal(err)
	}
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
	src, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	reason := regexp.MustCompile(`(?m)^\|([^|]*)\|[^|]*\| *[^ |-]`) // modules, where, why
	var modules strings.Builder
	for _, row := range reason.FindAllStringSubmatch(string(src), -1) {
		modules.WriteString(row[1])
	}
	for _, row := range thirdParty {
		if !strings.Contains(modules.String(), "`"+row.module+"`") {
			t.Errorf("CONTRIBUTING.md doesn't say what `%s` is for", row.module)
		}
	}
}

// readTree returns the Go files of this module: not those below testdata, in
// hidden directories or in other modules.
func readTree(t *testing.T) []goFile {
	t.Helper()
	files, err := parsedTree()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(f goFile) bool { return f.dir == "getproviders" && !f.test }) {
		t.Fatalf("found %d files, none of them in getproviders: this test looks in the wrong place", len(files))
	}
	return files
}

// parsedTree parses them once for all tests.
var parsedTree = sync.OnceValues(func() (files []goFile, err error) {
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(name, d.Name())
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(name)
		f, err := describeFile(path.Dir(slashed), path.Base(slashed), src)
		files = append(files, f)
		return err
	})
	return files, err
})

// skipDir is what the walk does with a directory.
func skipDir(name, base string) error {
	if name == "." {
		return nil
	}
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
