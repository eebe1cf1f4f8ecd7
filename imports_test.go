package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	"command/cachecmd":     slices.Concat(forCommands, []string{"configs/modules/fetch"}),
	"command/servecmd":     slices.Concat(forCommands, []string{"configs/cliconfig", "configs/modules", "getproviders/hosts", "getproviders/par", "getproviders/scratch", "getproviders/wholefile", "providercache/blob", "providercache/mirrorserver"}),
	"command/vendorcmd": slices.Concat(forCommands, []string{"configs/modules", "configs/modules/modulelock", "configs/modules/vendored",
		"getproviders/scratch", "providercache/bundle"}),

	"command/doctorcmd": slices.Concat(forCommands, []string{"configs/cliconfig", "getproviders/hosts", "getproviders/par", "getproviders/scratch"}),

	"command/sources": {"providercache/mirror", "providercache/oci", "providercache/blob", "providercache/blob/gcs", "providercache/blob/s3", "getproviders/hosts", "providercache/policy", "providercache/fetcher", "depsfile", "command/cli", "command/problem", "command/workdir", "configs/cliconfig", "configs/modules", "configs/modules/fetch",
		"providercache/resolve", "providercache/store", "getproviders", "getproviders/wholefile"},
	"command/workdir": {"command/cli", "command/problem", "command/view", "configs", "configs/backend", "configs/modules", "configs/modules/modulelock",
		"configs/requirements", "providercache/store", "depsfile", "getproviders", "getproviders/par"},
	"command/products": {"command/cli", "command/problem", "getproviders", "getproviders/wholefile"},
	"command/cli":      {"command/problem", "command/view", "providercache/fetcher", "getproviders", "getproviders/hosts"},
	"command/problem":  {},
	"command/view": {"command/problem", "configs/modules", "providercache", "providercache/archivedir", "providercache/event", "providercache/link",
		"providercache/lockhashes", "providercache/mirror", "providercache/resolve", "providercache/store", "getproviders", "getproviders/hosts", "getproviders/par"},

	"configs":                     {"configs/internal/diagnostic", "configs/internal/files", "configs/internal/state", "configs/static", "getproviders", "getproviders/par", "getproviders/wholefile"},
	"configs/internal/diagnostic": {},
	"configs/internal/files":      {"getproviders/wholefile"},
	"configs/internal/state":      {"configs/static"},
	"configs/static":              {"configs/internal/diagnostic", "configs/static/functions"},
	"configs/static/functions":    {"configs/internal/files"},
	"configs/backend":             {"configs", "configs/static", "getproviders", "getproviders/wholefile"},
	"configs/cliconfig":           {"getproviders", "getproviders/hosts", "getproviders/wholefile"},
	"configs/modules":             {"configs", "configs/internal/diagnostic", "configs/internal/files", "getproviders", "getproviders/hosts", "getproviders/par", "getproviders/scratch", "getproviders/wholefile"},
	"configs/modules/fetch": {"configs/modules", "configs/modules/internal/bucket", "configs/modules/internal/git", "getproviders", "getproviders/hosts",
		"getproviders/par", "getproviders/scratch", "getproviders/wholefile"},
	"configs/modules/internal/bucket": {"getproviders/awslogin", "getproviders/googlestorage", "getproviders/hosts", "getproviders/par"},
	"configs/modules/internal/git":    {"getproviders/filelock", "getproviders/hosts", "getproviders/par", "getproviders/scratch"},
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
	"providercache/archivedir": {"providercache/fetcher", "providercache/resolve", "providercache/internal/chunks", "providercache/internal/download",
		"providercache/internal/receipt", "providercache/internal/staging", "providercache/internal/unpack", "getproviders", "getproviders/scratch",
		"getproviders/wholefile"},
	"providercache/lockhashes": {"providercache/fetcher", "providercache/resolve", "providercache/internal/download", "providercache/internal/receipt",
		"depsfile", "getproviders", "getproviders/par"},
	"providercache/fetcher": {"providercache/store", "providercache/resolve", "providercache/event", "providercache/link",
		"providercache/internal/chunks", "providercache/internal/download", "providercache/internal/receipt", "providercache/internal/staging", "providercache/internal/unpack",
		"getproviders", "getproviders/hosts", "getproviders/par", "getproviders/scratch"},
	"providercache/policy": {"providercache/fetcher", "providercache/internal/owner", "depsfile", "getproviders", "getproviders/hosts", "getproviders/wholefile"},
	"providercache/store": {"providercache/event", "providercache/resolve", "providercache/internal/disk", "providercache/internal/download", "providercache/internal/owner", "providercache/internal/receipt",
		"providercache/internal/staging", "providercache/internal/statefile", "providercache/internal/unpack", "depsfile", "getproviders",
		"getproviders/filelock", "getproviders/par", "getproviders/scratch"},
	"providercache/resolve":          {"providercache/event", "depsfile", "getproviders", "getproviders/hosts", "getproviders/par"},
	"providercache/event":            {"providercache/link", "getproviders"},
	"providercache/bundle":           {"getproviders/par", "getproviders/scratch"},
	"providercache/blob":             {"providercache/internal/chunks", "getproviders/filelock", "getproviders/hosts", "getproviders/scratch"},
	"providercache/oci":              {"getproviders", "getproviders/hosts", "getproviders/par", "getproviders/wholefile"},
	"providercache/blob/gcs":         {"providercache/blob", "providercache/internal/chunks", "getproviders/googlestorage", "getproviders/hosts"},
	"providercache/blob/s3":          {"providercache/blob", "getproviders/awslogin"},
	"providercache/internal/receipt": {"providercache/internal/owner", "providercache/internal/statefile", "getproviders", "getproviders/par"},
	"providercache/internal/statefile": {"providercache/internal/owner", "getproviders/filelock", "getproviders/par", "getproviders/scratch",
		"getproviders/wholefile"},
	"providercache/internal/download": {"getproviders", "getproviders/filelock", "getproviders/hosts", "getproviders/par", "getproviders/scratch",
		"providercache/internal/chunks", "providercache/internal/owner", "providercache/internal/staging"},
	"providercache/internal/unpack":         {"getproviders", "getproviders/par", "providercache/internal/chunks", "providercache/internal/unpack/inflate"},
	"providercache/internal/unpack/inflate": {},
	"providercache/internal/staging":        {"getproviders", "getproviders/scratch"},
	"providercache/link":                    {"providercache/internal/chunks", "providercache/internal/owner"},
	"providercache/internal/chunks":         {},
	"providercache/internal/disk":           {"getproviders/scratch"},
	"providercache/internal/owner":          {},
	"depsfile":                              {"getproviders", "getproviders/wholefile"},
	"getproviders":                          {"getproviders/hosts", "getproviders/par", "getproviders/wholefile"},
	"getproviders/hosts":                    {"getproviders/par", "getproviders/wholefile"},
	"getproviders/awslogin":                 {},
	"getproviders/googlestorage":            {"getproviders/hosts", "getproviders/par"},
	"getproviders/filelock":                 {"getproviders/par"},
	"getproviders/par":                      {},
	"getproviders/scratch":                  {"getproviders/filelock"},
	"getproviders/wholefile":                {"getproviders/filelock"},

	// Test support. Only tests import it; see testSupport.
	"getproviders/providertest":          {"getproviders", "getproviders/hosts"},
	"command/view/screentest":            {},
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
	"providercache/vendoring":         {"providercache"},
}

// testSupport are the packages that tests may import and production code may
// not. Some stop tests, and import testing for that.
var (
	testSupport = []string{"getproviders/providertest", "command/view/screentest", "providercache/blob/blobtest", "providercache/oci/ocitest", "providercache/internal/cachetest", "providercache/internal/installtest", "providercache/internal/receipttest", harness}
	stopsTests  = []string{"providercache/blob/blobtest", "providercache/oci/ocitest", "providercache/internal/cachetest", "providercache/internal/installtest", "providercache/internal/receipttest", harness}
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

// allowance says where a module of others may be used, and what for.
type allowance struct {
	module string
	where  []string // packages, or single files of them
	tests  bool     // test files everywhere may use it too
	reason string
}

// thirdParty lists every module of others that files of this module may import. One
// that isn't here is an error, wherever it is imported; so is a row that
// nothing uses.
var thirdParty = []allowance{
	{
		module: "oras.land/oras-go/v2",
		where:  []string{"providercache/oci"},
		reason: "OCI registries: the login with tokens, uploads, the helpers that know credentials",
	},
	{
		module: "github.com/opencontainers/image-spec",
		where:  []string{"providercache/oci"},
		reason: "the manifests of OCI registries, which oras-go takes",
	},
	{
		module: "github.com/opencontainers/go-digest",
		where:  []string{"providercache/oci"},
		tests:  true,
		reason: "the digests of OCI registries, which oras-go takes",
	},
	{
		module: "github.com/hashicorp/go-version",
		where:  []string{"configs", "configs/internal/state", "configs/modules", "configs/modules/modulelock"},
		reason: "required_version, the versions of modules, and the first of the two parsers that a constraint has to pass",
	},
	{
		module: "github.com/ProtonMail/go-crypto",
		where:  []string{"getproviders/authenticate_packets.go", "getproviders/authenticate_signature.go", "getproviders/providertest"},
		tests:  true,
		reason: "OpenPGP: one file reads keys within limits, one checks signatures, the fake registry makes them",
	},
	{
		module: "github.com/hashicorp/hcl/v2",
		where: []string{"configs", "configs/backend", "configs/modules", "configs/modules/modulelock", "configs/requirements", "depsfile", "command/problem", "command/view", "configs/internal/diagnostic", "configs/internal/state", "configs/static",
			"configs/static/functions", "providercache/policy"},
		reason: "configuration and lock file, and the shape of their diagnostics",
	},
	{
		module: "github.com/hashicorp/go-getter/v2",
		where:  []string{"configs/modules/fetch"},
		reason: "unpacks archives of modules; its first version would bring the SDKs of the clouds with it",
	},
	{
		module: "github.com/ulikunitz/xz",
		where:  []string{"configs/modules/fetch"},
		reason: "go-getter's own reader, with a buffer: without one it makes a system call for each byte",
	},
	{
		module: "github.com/aws/aws-sdk-go-v2",
		where:  []string{"configs/modules/internal/bucket", "getproviders/awslogin", "providercache/blob/s3"},
		reason: "objects of s3: the types that its parts share",
	},
	{
		module: "github.com/aws/aws-sdk-go-v2/config",
		where:  []string{"getproviders/awslogin"},
		reason: "objects of s3: profiles, SSO, roles and web identity",
	},
	{
		module: "github.com/aws/aws-sdk-go-v2/credentials",
		where:  []string{"getproviders/awslogin"},
		tests:  true,
		reason: "objects of s3: keys of an address, and AWS_METADATA_URL",
	},
	{
		module: "github.com/aws/aws-sdk-go-v2/feature/ec2/imds",
		where:  []string{"getproviders/awslogin"},
		reason: "objects of s3: AWS_METADATA_URL",
	},
	{
		module: "github.com/aws/aws-sdk-go-v2/service/s3",
		where:  []string{"configs/modules/internal/bucket", "providercache/blob/s3"},
		reason: "objects of s3: requests, signed",
	},
	{
		module: "github.com/aws/smithy-go",
		where:  []string{"getproviders/awslogin", "providercache/blob/s3"},
		reason: "objects of s3: keeps the SDK's log off standard error, and names the errors of services",
	},
	{
		module: "golang.org/x/oauth2",
		where:  []string{"getproviders/googlestorage"},
		tests:  true,
		reason: "objects of gcs: application default credentials and their tokens",
	},
	{
		module: "github.com/hashicorp/hcl",
		where:  []string{"configs/cliconfig"},
		reason: "the CLI configuration is HCL 1, which the second version doesn't read",
	},
	{
		module: "github.com/zclconf/go-cty",
		where:  []string{"configs", "configs/backend", "depsfile", "configs/static", "configs/static/functions"},
		tests:  true,
		reason: "the values of HCL 2",
	},
	{
		module: "github.com/hashicorp/go-cty-funcs",
		where:  []string{"configs/static/functions"},
		reason: "functions of the language: checksums, encodings, subnets",
	},
	{
		module: "github.com/zclconf/go-cty-yaml",
		where:  []string{"configs/static/functions"},
		tests:  true,
		reason: "the function yamldecode and its opposite; tests read the files of docs/fleet",
	},
	{
		module: "github.com/apparentlymart/go-cidr",
		where:  []string{"configs/static/functions"},
		reason: "the functions for networks of IPv6, whose numbers are large",
	},
	{
		module: "github.com/bmatcuk/doublestar/v4",
		where:  []string{"configs/static/functions"},
		reason: "the patterns of the function fileset",
	},
	{
		module: "golang.org/x/text",
		where:  []string{"configs/static/functions", "command/view"},
		reason: "the encodings of the function textencodebase64 and its opposite; how wide characters are on a terminal",
	},
	{
		module: "github.com/mitchellh/cli",
		where:  []string{"command"},
		reason: "what a command is; kept to the top so that it can be replaced",
	},
	{
		module: "github.com/agext/levenshtein",
		where:  []string{"command/cli"},
		reason: "finds the command or option that a misspelt name means",
	},
	{
		module: "github.com/mattn/go-shellwords",
		where:  []string{"command"},
		reason: "TF_CLI_ARGS is split as a shell would",
	},
	{
		module: "github.com/hashicorp/terraform-svchost",
		where:  []string{"getproviders/hosts"},
		reason: "hostnames are normalised exactly as Terraform and OpenTofu do",
	},
	{
		module: "github.com/hashicorp/go-retryablehttp",
		where:  []string{"getproviders/hosts"},
		reason: "the machinery of retrying a request",
	},
	{
		module: "golang.org/x/net",
		where:  []string{"getproviders", "getproviders/hosts"},
		reason: "the IDNA rules for the parts of an address",
	},
	{
		module: "github.com/klauspost/compress",
		where:  []string{"providercache/internal/unpack"},
		tests:  true,
		reason: "archives by their directory, and those that can't be unpacked while they arrive",
	},
	{
		module: "golang.org/x/sys",
		where: []string{"getproviders/filelock", "providercache/internal/disk", "providercache/internal/owner", "providercache/internal/receipt", "providercache/internal/staging",
			"providercache/link", "command/servecmd"},
		tests:  true,
		reason: "what the file systems of the three systems need",
	},
	{
		module: "github.com/CycloneDX/cyclonedx-go",
		tests:  true,
		reason: "reads the bills of materials that are written",
	},
	{
		module: "golang.org/x/term",
		where:  []string{"command/view"},
		reason: "is it a terminal, and how wide",
	},
	{
		module: "golang.org/x/mod",
		where:  []string{"providercache/internal/installtest"},
		tests:  true,
		reason: "dirhash is the oracle for h1; modfile reads go.mod here, and zip says whether the module can be installed",
	},
	{
		module: "github.com/rogpeppe/go-internal",
		tests:  true,
		reason: "testscript: tests that read like sessions",
	},
	{
		module: "github.com/santhosh-tekuri/jsonschema/v6",
		where:  []string{"command/e2etest/sessions"},
		tests:  true,
		reason: "compares what -json prints with the schemas of docs/json",
	},
	{
		module: "go.uber.org/goleak",
		tests:  true,
		reason: "nothing goes on after the last test",
	},
}

// TestTree_KeepsTheRules reads every Go file of this module, for all systems
// and not only the one that the test runs on.
func TestTree_KeepsTheRules(t *testing.T) {
	for _, f := range readTree(t) {
		for _, r := range treeRules {
			for _, problem := range r.check(f) {
				t.Errorf("%s: %s (rule %q)", f.path(), problem, r.name)
			}
		}
	}
}

// TestDependencyTable_MatchesGoMod: every module that go.mod asks for directly
// has a row with its reason, every row is in go.mod and is used by some file.
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

// TestGoMod_CanBeInstalledFromATag: "go install MODULE@VERSION" refuses a go.mod that replaces or excludes modules, and a tree that
// doesn't fit in the archive of a module.
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
	for _, row := range thirdParty {
		if !strings.Contains(string(src), "`"+row.module+"`") {
			t.Errorf("CONTRIBUTING.md says nothing of `%s`", row.module)
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
