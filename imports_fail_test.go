package main

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestRules_CanFail tests the tester: each row is a file, what is in it, and a part of the problem that it has; "" is none.
func TestRules_CanFail(t *testing.T) {
	for _, c := range []struct{ file, src, want string }{
		{"getproviders/x.go", `import _ "OURS/providercache"`, "must not import"},
		{"depsfile/x.go", `import _ "OURS/configs"`, "must not import"},
		{"internal/par/x.go", `import _ "OURS/internal/hosts"`, "must not import"},
		{"command/x.go", `import _ "OURS"`, "must not import"},
		{"providercache/x.go", `import _ "OURS/getproviders/providertest"`, "for tests"},
		{"providercache/mirror/x.go", `import _ "OURS/configs/cliconfig"`, "must not import"},
		{"command/initcmd/x.go", `import _ "OURS/command/getcmd"`, "must not import"},
		{"command/e2etest/faults/x_test.go", `import _ "OURS/command"`, "must not import"},
		{"getproviders/x_test.go", `import _ "OURS/command"`, "must not import"},
		{"extra/x.go", "", "on no floor"},
		{"providercache/x.go", `import _ "OURS/depsfile"`, ""},
		{"depsfile/x_test.go", `import _ "OURS/getproviders/providertest"`, ""},
		{"depsfile/x_test.go", `import _ "OURS/depsfile"`, ""},
		{"command/e2etest/faults/x_test.go", `import _ "OURS/depsfile"`, ""},
		{"getproviders/x.go", `import _ "example.com/some/thing"`, "no row"},
		{"getproviders/x.go", `import _ "github.com/hashicorp/go-version2"`, "no row"},
		{"getproviders/x.go", `import _ "github.com/hashicorp/hcl/v2/hclsyntax"`, "must not import"},
		{"getproviders/x.go", `import _ "github.com/ProtonMail/go-crypto/openpgp"`, "must not import"},
		{"getproviders/h1.go", `import _ "golang.org/x/mod/sumdb/dirhash"`, "must not import"},
		{"getproviders/authenticate_signature.go", `import _ "github.com/ProtonMail/go-crypto/openpgp"`, ""},
		{"getproviders/x_test.go", `import _ "golang.org/x/mod/sumdb/dirhash"`, ""},
		{"getproviders/providertest/x.go", `import _ "testing"`, "testing"},
		{"getproviders/x.go", `import _ "testing/iotest"`, "testing"},
		{"providercache/x.go", `import _ "log"`, "log"},
		{"providercache/x.go", `import _ "log/slog"`, ""},
		{"command/x_test.go", "func init() {}", "func init"},
		{"command/x.go", "type t struct{}\nfunc (t) init() {}", ""},
		{"getproviders/x.go", "import \"os\"\nvar x = os.Getenv(\"HOME\")", "os.Getenv"},
		{"command/x.go", "import sys \"os\"\nfunc f() { sys.Exit(1) }", "os.Exit"},
		{"command/x.go", "import . \"os\"\nfunc f() { Exit(1) }", "without a name"},
		{"command/main.go", "import \"os\"\nvar f = os.Stdout", "os.Stdout"},
		{"main.go", "import \"os\"\nfunc f() { os.Exit(len(os.Args)) }", ""},
		{"depsfile/x.go", "import \"os\"\nvar f, _ = os.ReadFile(\"x\")", ""},
		{"getproviders/x.go", "import \"time\"\nvar x = time.Now()", "time.Now"},
		{"getproviders/x.go", "import \"time\"\nvar now = time.Now", ""},
		{"command/util/x.go", "", "says nothing"},
		{"internal/config/fetch/x.go", "import \"os/exec\"\nvar x = exec.CommandContext(nil, \"hg\")", "os/exec.CommandContext"},
		{"command/x.go", "import \"os/exec\"\nvar x = &exec.Cmd{Path: \"hg\"}", "exec.Cmd"},
		{"command/x.go", "import \"os\"\nvar x, _ = os.StartProcess(\"hg\", nil, nil)", "os.StartProcess"},
		{"command/x.go", "import \"os\"\nvar err = os.Rename(\"a\", \"b\")", "internal/patient"},
		{"command/x.go", "const hint = `run\n  tfdeps cache gc`", "called tfdeps"},
		{"command/x.go", "const hint = \"what tfdeps gets: tfdeps help cache\"", ""},
		{"internal/oci/x.go", `import _ "oras.land/oras-go/v2/registry/remote/credentials"`, "must not import"},
		{"command/servecmd/child.go", "import \"os/exec\"\nvar x = exec.Command(\"make\")", ""},
		{"command/x.go", "import \"os/exec\"\nfunc f(c *exec.Cmd) error { return c.Run() }", ""},
	} {
		f := must.Get(parseFile(c.file, "package p\n"+strings.ReplaceAll(c.src, "OURS", modulePath)+"\n"))(t)
		if got := strings.Join(f.problems(), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s with %.60q: got %q, want something with %q", c.file, c.src, got, c.want)
		}
	}
}

func TestBrokenCommentLinks_CanFail(t *testing.T) {
	const src = "package store\n\n// T is in [Store], beside [T.Field], [*T.Do] and [store.T]; [x] and [json.Decoder] aren't ours.\n" +
		"type T struct{ Field int }\n\n// Do has [T.Gone], [store.Gone] and [Gone].\nfunc (t *T) Do() {}\n\nconst Store = 1\n"
	f := must.Get(parseFile("providercache/internal/store/x.go", src))(t)
	var want []string
	for _, name := range []string{"T.Gone", "store.Gone", "Gone"} {
		want = append(want, "providercache/internal/store/x.go:6: nothing is ["+name+"]")
	}
	must.EqualSlices(t, brokenCommentLinks([]goFile{f}), want)
}

func TestDependencyTableRules_CanFail(t *testing.T) {
	const module = "github.com/hashicorp/go-version" // of the real table, which tells modules apart
	row := []string{module, "depsfile"}
	user := must.Get(parseFile("depsfile/x.go", "package p\nimport _ \""+module+"\"\n"))(t)
	for _, c := range []struct {
		table  [][]string
		direct []string
		files  []goFile
		want   string
	}{
		{[][]string{row}, []string{module}, []goFile{user}, ""},
		{nil, []string{module}, []goFile{user}, "no row"},
		{[][]string{row}, nil, []goFile{user}, "doesn't require"},
		{[][]string{row}, []string{module}, nil, "isn't used in depsfile"},
	} {
		if got := strings.Join(dependencyProblems(c.table, c.direct, c.files), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("got %q, want something with %q", got, c.want)
		}
	}
}
