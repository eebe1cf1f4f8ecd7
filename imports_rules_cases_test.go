package main

import (
	"slices"
	"strings"
	"testing"
)

// ruleCase is a file that breaks exactly one rule, or none.
type ruleCase struct {
	name string
	file string // its path
	doc  string // the package comment
	src  string // what follows the package clause
	pkg  string // the package clause's name; "": p
	want string // part of the message; "": the file is fine
}

// ruleCases holds, for each rule, files that break it and files that nearly do.
var ruleCases = map[string][]ruleCase{
	"imports of ours point downwards": {
		{name: "upwards", file: "getproviders/x.go", src: `import _ "github.com/tfdeps/tfdeps/providercache"`, want: "must not import"},
		{name: "sideways", file: "depsfile/x.go", src: `import _ "github.com/tfdeps/tfdeps/configs"`, want: "must not import"},
		{name: "par imports nothing", file: "getproviders/par/x.go", src: `import _ "github.com/tfdeps/tfdeps/getproviders/hosts"`, want: "must not import"},
		{name: "main itself", file: "command/x.go", src: `import _ "github.com/tfdeps/tfdeps"`, want: "must not import"},
		{name: "test support in production", file: "providercache/x.go", src: `import _ "github.com/tfdeps/tfdeps/getproviders/providertest"`, want: "must not import"},
		{name: "a test may not look up either", file: "getproviders/x_test.go", src: `import _ "github.com/tfdeps/tfdeps/command"`, want: "must not import"},
		{name: "unknown package", file: "extra/x.go", want: "not in the table"},
		{name: "downwards", file: "providercache/x.go", src: `import _ "github.com/tfdeps/tfdeps/depsfile"`},
		{name: "hosts may use par", file: "getproviders/hosts/x.go", src: `import _ "github.com/tfdeps/tfdeps/getproviders/par"`},
		{name: "test support in a test", file: "depsfile/x_test.go", src: `import _ "github.com/tfdeps/tfdeps/getproviders/providertest"`},
		{name: "a test of the whole", file: "command/e2etest/faults/x_test.go", src: `import _ "github.com/tfdeps/tfdeps/depsfile"`},
		{name: "a test of the whole runs the program", file: "command/e2etest/faults/x_test.go", src: `import _ "github.com/tfdeps/tfdeps/command"`, want: "must not import"},
		{name: "main has one import", file: "x.go", src: `import _ "github.com/tfdeps/tfdeps/depsfile"`, want: "must not import"},
		{name: "more for tests", file: "providercache/internal/download/x_test.go", src: `import _ "github.com/tfdeps/tfdeps/providercache/internal/unpack"`},
		{name: "for tests alone", file: "providercache/internal/download/x.go", src: `import _ "github.com/tfdeps/tfdeps/providercache/internal/unpack"`, want: "must not import"},
		{name: "its own package in a test", file: "depsfile/x_test.go", pkg: "depsfile_test", src: `import _ "github.com/tfdeps/tfdeps/depsfile"`},
	},
	"modules of others stay in their place": {
		{name: "unknown module", file: "getproviders/x.go", src: `import _ "example.com/some/thing"`, want: "no row"},
		{name: "unknown module in a test", file: "getproviders/x_test.go", src: `import _ "example.com/some/thing"`, want: "no row"},
		{name: "a longer name is another module", file: "getproviders/x.go", src: `import _ "github.com/hashicorp/go-version2"`, want: "no row"},
		{name: "known, wrong package", file: "getproviders/x.go", src: `import _ "github.com/hashicorp/hcl/v2/hclsyntax"`, want: "must not import"},
		{name: "first HCL isn't the second", file: "configs/x.go", src: `import _ "github.com/hashicorp/hcl"`, want: "must not import"},
		{name: "second HCL isn't the first", file: "configs/cliconfig/x.go", src: `import _ "github.com/hashicorp/hcl/v2"`, want: "must not import"},
		{name: "known, wrong file", file: "getproviders/x.go", src: `import _ "github.com/ProtonMail/go-crypto/openpgp"`, want: "must not import"},
		{name: "for tests only", file: "getproviders/h1.go", src: `import _ "golang.org/x/mod/sumdb/dirhash"`, want: "must not import"},
		{name: "right file", file: "getproviders/authenticate_signature.go", src: `import _ "github.com/ProtonMail/go-crypto/openpgp"`},
		{name: "right package", file: "configs/x.go", src: `import _ "github.com/hashicorp/hcl/v2/hclsyntax"`},
		{name: "oracle in a test", file: "getproviders/x_test.go", src: `import _ "golang.org/x/mod/sumdb/dirhash"`},
		{name: "standard library", file: "getproviders/x.go", src: `import _ "net/http"`},
	},
	"production code imports neither testing nor log": {
		{name: "testing", file: "getproviders/providertest/x.go", src: `import _ "testing"`, want: "testing"},
		{name: "a part of testing", file: "getproviders/x.go", src: `import _ "testing/iotest"`, want: "testing"},
		{name: "log", file: "providercache/x.go", src: `import _ "log"`, want: "log"},
		{name: "testing in the harness", file: harness + "/x.go", src: `import _ "testing"`},
		{name: "log/slog", file: "getproviders/hosts/x.go", src: `import _ "log/slog"`},
		{name: "in a test", file: "getproviders/x_test.go", src: `import _ "testing"`},
	},
	"no func init": {
		{name: "init", file: "command/x.go", src: "func init() {}", want: "func init"},
		{name: "in a test as well", file: "command/x_test.go", src: "func init() {}", want: "func init"},
		{name: "a method of that name", file: "command/x.go", src: "type t struct{}\nfunc (t) init() {}"},
	},
	"concurrency lives in getproviders/par": {
		{name: "go", file: "providercache/x.go", src: "func f() { go f() }", want: "goroutine"},
		{name: "make", file: "providercache/x.go", src: "func f() { _ = make(chan int) }", want: "channel type"},
		{name: "parameter", file: "command/x.go", src: "func f(c <-chan int) {}", want: "channel type"},
		{name: "receive", file: "command/x.go", src: "func f() { <-g() }", want: "receives"},
		{name: "send", file: "command/x.go", src: "func f() { g() <- 1 }", want: "sends"},
		{name: "select", file: "command/x.go", src: "func f() { select {} }", want: "selects"},
		{name: "sync", file: "getproviders/x.go", src: `import "sync"`, want: "imports sync"},
		{name: "atomic", file: "getproviders/x.go", src: `import "sync/atomic"`, want: "imports sync/atomic"},
		{name: "errgroup", file: "getproviders/x.go", src: `import "golang.org/x/sync/errgroup"`, want: "errgroup"},
		{name: "another file of that name", file: "command/event.go", src: `import "sync"`, want: "imports sync"},
		{name: "event serialiser", file: "providercache/event/event.go", src: `import "sync"`},
		{name: "par", file: "getproviders/par/x.go", src: "import \"sync\"\nfunc f() { go f() }"},
		{name: "tests", file: "providercache/x_test.go", src: "func f() { go f() }"},
		{name: "fake registry", file: "getproviders/providertest/x.go", src: `import "sync"`},
	},
	"only main.go knows of the process": {
		{name: "environment", file: "getproviders/x.go", src: "import \"os\"\nvar x = os.Getenv(\"HOME\")", want: "os.Getenv"},
		{name: "under another name", file: "command/x.go", src: "import sys \"os\"\nfunc f() { sys.Exit(1) }", want: "os.Exit"},
		{name: "without a name", file: "command/x.go", src: "import . \"os\"\nfunc f() { Exit(1) }", want: "without a name"},
		{name: "as a value", file: "command/x.go", src: "import \"os\"\nvar f = os.LookupEnv", want: "os.LookupEnv"},
		{name: "arguments", file: "command/x.go", src: "import \"os\"\nvar f = os.Args[1:]", want: "os.Args"},
		{name: "home", file: "command/x.go", src: "import \"os\"\nvar f, _ = os.UserHomeDir()", want: "os.UserHomeDir"},
		{name: "streams", file: "command/view/x.go", src: "import \"os\"\nvar f = os.Stdout", want: "os.Stdout"},
		{name: "another file of the root", file: "x.go", src: "import \"os\"\nfunc f() { os.Exit(1) }", want: "os.Exit"},
		{name: "another main.go", file: "command/main.go", src: "import \"os\"\nfunc f() { os.Exit(1) }", want: "os.Exit"},
		{name: "main.go", file: "main.go", src: "import \"os\"\nfunc f() { os.Exit(len(os.Args)) }"},
		{name: "files", file: "depsfile/x.go", src: "import \"os\"\nvar f, _ = os.ReadFile(\"x\")"},
		{name: "a field of that name", file: "command/x.go", src: "var os struct{ Args []string }\nvar f = os.Args"},
	},
	"engine packages have no clock": {
		{name: "call", file: "getproviders/x.go", src: "import \"time\"\nvar x = time.Now()", want: "time.Now"},
		{name: "handed on as a default", file: "getproviders/x.go", src: "import \"time\"\nvar now = time.Now"},
		{name: "main.go", file: "main.go", src: "import \"time\"\nvar x = time.Now()"},
	},
	"helper programs are started by getproviders/subprocess": {
		{name: "call", file: "configs/modules/fetch/x.go", src: "import \"os/exec\"\nvar x = exec.CommandContext(nil, \"hg\")", want: "os/exec.CommandContext"},
		{name: "as a value", file: "command/x.go", src: "import \"os/exec\"\nvar x = exec.Command", want: "os/exec.Command"},
		{name: "made by hand", file: "command/x.go", src: "import \"os/exec\"\nvar x = &exec.Cmd{Path: \"hg\"}", want: "exec.Cmd"},
		{name: "by the system", file: "command/x.go", src: "import \"os\"\nvar x, _ = os.StartProcess(\"hg\", nil, nil)", want: "os.StartProcess"},
		{name: "by another module", file: "providercache/oci/x.go", src: `import _ "oras.land/oras-go/v2/registry/remote/credentials"`, want: "must not import"},
		{name: "what the user asks for", file: "command/servecmd/child.go", src: "import \"os/exec\"\nvar x = exec.Command(\"make\")"},
		{name: "subprocess", file: "getproviders/subprocess/x.go", src: "import \"os/exec\"\nvar x = exec.Command(\"hg\")"},
		{name: "a prepared one", file: "command/x.go", src: "import \"os/exec\"\nfunc f(c *exec.Cmd) error { return c.Run() }"},
		{name: "tests", file: "command/x_test.go", src: "import \"os/exec\"\nvar x = exec.Command(\"hg\")"},
	},
	"files are small": {
		{name: "too long", file: "command/x.go", src: strings.Repeat("\n", maxFileLines), want: "lines, more than"},
		{name: "just right", file: "command/x.go", src: strings.Repeat("\n", maxFileLines-2)},
		{name: "a long test", file: "command/x_test.go", src: strings.Repeat("\n", 2*maxFileLines)},
	},
	"package comments are short": {
		{name: "too long", file: "command/x.go", doc: strings.Repeat("// text\n", maxDocLines+1), want: "61 lines"},
		{name: "just right", file: "command/x.go", doc: strings.Repeat("// text\n", maxDocLines)},
	},
	"functions are small": {
		{name: "too long", file: "command/x.go", src: "func f() {" + strings.Repeat("\n", maxFuncLines) + "}", want: "f has 71 lines"},
		{name: "just right", file: "command/x.go", src: "func f() {" + strings.Repeat("\n", maxFuncLines-1) + "}"},
		{name: "a long test", file: "command/x_test.go", src: "func f() {" + strings.Repeat("\n", maxFuncLines) + "}"},
	},
	"coined words stay away": {
		{name: "a function", file: "command/x.go", src: "func genuine() {}", want: "genuine"},
		{name: "part of a type", file: "command/x.go", src: "type openHashTeller int", want: "HashTeller"},
		{name: "a field", file: "command/x.go", src: "type t struct{ Offhand int }", want: "Offhand"},
		{name: "use of another's", file: "command/x.go", src: "var x = y.Upkeep", want: "upkeep"},
		{name: "a comment", file: "command/x.go", src: "// f fills a shelf.\nfunc f() {}", want: "shelf"},
		{name: "a comment in a function", file: "command/x.go", src: "func f() {\n\t// two workshops\n}", want: "workshop"},
		{name: "in a test as well", file: "command/x_test.go", src: "func homelessTest() {}", want: "homeless"},
		{name: "a type", file: "command/x.go", src: "type edition struct{}", want: "edition"},
		{name: "not a type", file: "command/x.go", src: "// f makes an edition.\nfunc f(edition int) {}"},
		{name: "ordinary words", file: "command/x.go", src: "// get takes a dir of the home, told where.\nfunc get(dir string) {}"},
		{name: "part of a word", file: "command/x.go", src: "// itself\nvar bookshelf, shelfy int"},
		{name: "two words apart", file: "command/x.go", src: "// f is not kept.\nvar hash, teller int"},
		{name: "what users see", file: "command/x.go", src: `var x = "a genuine package"`},
	},
	"functions with internal types say for whom they are": {
		{name: "a result", file: "providercache/x.go", src: internalImport + "func F() *x.T { return nil }", want: "F has the type x.T"},
		{name: "a parameter of a method", file: "providercache/x.go", src: internalImport + "func (t *T) F(all ...x.T) {}", want: "T.F has the type x.T"},
		{name: "said", file: "providercache/x.go", src: internalImport + "// F is for the packages\n// above this one.\nfunc F() *x.T { return nil }"},
		{name: "not exported", file: "providercache/x.go", src: internalImport + "func f() x.T { panic(0) }\nfunc (t *t) F() x.T { panic(0) }"},
		{name: "internal itself", file: "providercache/internal/y/x.go", src: internalImport + "func F(x.T) {}"},
		{name: "a type that says it", file: "providercache/store/x.go", src: internalImport + "func (v View) F(x.T) {}"},
		{name: "another type", file: "providercache/store/x.go", src: internalImport + "func (v Store) F(x.T) {}", want: "Store.F"},
	},
	"packages have names that say something": {
		{name: "clause", file: "command/x.go", pkg: "helpers", want: "helpers"},
		{name: "directory", file: "command/util/x.go", want: "util"},
		{name: "test package", file: "command/x_test.go", pkg: "common_test", want: "common_test"},
		{name: "part of a name", file: "command/x.go", pkg: "utilities"},
	},
}

// internalImport is what cases with internal types begin with.
const internalImport = "import \"" + modulePath + "/providercache/internal/x\"\n"

// TestRules_CanFail tests the tester: a rule that nothing can break proves
// nothing.
func TestRules_CanFail(t *testing.T) {
	for _, r := range treeRules {
		t.Run(r.name, func(t *testing.T) {
			cases := ruleCases[r.name]
			bad := func(c ruleCase) bool { return c.want != "" }
			good := func(c ruleCase) bool { return c.want == "" }
			if !slices.ContainsFunc(cases, bad) || !slices.ContainsFunc(cases, good) {
				t.Fatal("the rule needs a case that breaks it and one that doesn't")
			}
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, r) })
			}
		})
	}
	if len(ruleCases) != len(treeRules) {
		t.Errorf("cases for %d rules, but there are %d", len(ruleCases), len(treeRules))
	}
}

func (c ruleCase) run(t *testing.T, r treeRule) {
	pkg := c.pkg
	if pkg == "" {
		pkg = "p"
	}
	dir, name := ".", c.file
	if i := strings.LastIndexByte(c.file, '/'); i >= 0 {
		dir, name = c.file[:i], c.file[i+1:]
	}
	f, err := describeFile(dir, name, []byte(c.doc+"package "+pkg+"\n"+c.src+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(r.check(f), "; ")
	if c.want == "" && got != "" {
		t.Errorf("refused: %s", got)
	}
	if !strings.Contains(got, c.want) || (c.want != "" && got == "") {
		t.Errorf("got %q, want something with %q", got, c.want)
	}
}

func TestBrokenCommentLinks_CanFail(t *testing.T) {
	const src = "package store\n\n// T is in [Store], beside [T.Field], [*T.Do] and [store.T]; [x] and [json.Decoder] aren't ours.\n" +
		"type T struct{ Field int }\n\n// Do has [T.Gone], [store.Gone] and [Gone].\nfunc (t *T) Do() {}\n\nconst Store = 1\n"
	f, err := describeFile("providercache/store", "x.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"T.Gone", "store.Gone", "Gone"} {
		want = append(want, "providercache/store/x.go:6: nothing is ["+name+"]")
	}
	if got := brokenCommentLinks([]goFile{f}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDependencyTableRules_CanFail(t *testing.T) {
	const module = "github.com/hashicorp/go-version" // of the real table, which tells modules apart
	row := allowance{module: module, where: "configs"}
	user := goFile{dir: "configs", name: "x.go", imports: []string{module}}
	for _, c := range []struct {
		name   string
		table  []allowance
		direct []string
		files  []goFile
		want   string
	}{
		{"all is well", []allowance{row}, []string{module}, []goFile{user}, ""},
		{"no row", nil, []string{module}, []goFile{user}, "no row"},
		{"not required", []allowance{row}, nil, []goFile{user}, "doesn't require"},
		{"not used", []allowance{row}, []string{module}, nil, "isn't used in configs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(dependencyProblems(c.table, c.direct, c.files), "; ")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want something with %q", got, c.want)
			}
		})
	}
}
