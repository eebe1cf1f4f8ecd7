package depsfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/must"
)

func parse(src string) (*Locks, hcl.Diagnostics) {
	return Decode([]byte(src), "test.hcl", terraform)
}

// decode is Decode for files without errors.
func decode(t testing.TB, src string) *Locks {
	t.Helper()
	l, diags := parse(src)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return l
}

func TestDecode(t *testing.T) {
	l := decode(t, `
# A comment.
provider "registry.terraform.io/hashicorp/aws" {
  version     = "5.1.0"
  constraints = ">= 5.0.0, ~> 5.1"
  hashes = [
    "zh:b",
    "h9:a newer program's",
    "h1:a=",
    "h1:a=",
  ]
}
provider "испытание.com:8443/acme/x" { version = "1.0.0-beta.1+x" }
`)
	want := []Lock{
		lock(t, "hashicorp/aws", "5.1.0", ">= 5.0, ~> 5.1", "zh:b", "h9:a newer program's", "h1:a=", "h1:a="),
		lock(t, "испытание.com:8443/acme/x", "1.0.0-beta.1+x", ""),
	}
	for i, got := range l.All() {
		if got.Provider != want[i].Provider || got.Version != want[i].Version ||
			got.Constraints.String() != want[i].Constraints.String() || !slices.Equal(got.Hashes, want[i].Hashes) {
			t.Errorf("got %v, want %v", got, want[i])
		}
	}
	must.Equal(t, len(l.All()), len(want))
}

// Terraform 1.11.4 reads these.
func TestDecode_Accepts(t *testing.T) {
	for name, src := range map[string]string{
		"empty":                   "",
		"comments only":           "# nothing\n",
		"Windows line ends":       "provider \"a.com/b/c\" {\r\n  version = \"1.0.0\"\r\n}\r\n",
		"byte order mark":         "\ufeffprovider \"a.com/b/c\" {\n  version = \"1.0.0\"\n}\n",
		"constant expression":     block(`version = "1.0.${0}"`),
		"empty constraints":       locked(`constraints = ""`),
		"unsatisfied constraints": locked(`constraints = ">= 2.0.0"`),
		"no hashes":               locked(),
		"unknown scheme alone":    locked(`hashes = ["h9:x"]`),
		"hash with expression":    locked(`hashes = ["h1:${"a"}"]`),
		"version zero":            block(`version = "0.0.0"`),
	} {
		if _, diags := parse(src); len(diags) > 0 {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// block is a lock for a.com/b/c with these arguments.
func block(arguments ...string) string {
	return "provider \"a.com/b/c\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

// locked is a block with a version, and with more arguments.
func locked(more ...string) string { return block(append([]string{`version = "1.0.0"`}, more...)...) }

// The summaries are those of Terraform 1.11.4 for the same files.
func TestDecode_Refuses(t *testing.T) {
	other := func(address string) string { return "provider \"" + address + "\" {\n  version = \"1.0.0\"\n}\n" }
	for summary, refused := range map[string]map[string]string{
		"Non-normalized provider source address": {
			other("acme/a"):        `"registry.terraform.io/acme/a"`,
			other("a"):             `"registry.terraform.io/hashicorp/a"`,
			other("a.com/B/c"):     `"a.com/b/c"`,
			other("a.com:443/b/c"): `"a.com/b/c"`,
		},
		"Invalid provider source address": {
			other("xn--80akhbyknj4f.com/b/c"):       "punycode",
			other("a//b"):                           "hostname/namespace/type",
			other("a.com/b/terraform-provider-c"):   `Did you mean "a.com/b/c"?`,
			other("terraform.io/builtin/terraform"): "built into Terraform",
			other("registry.terraform.io/-/aws"):    "legacy",
		},
		"Duplicate provider lock": {
			other("a.com/b/c") + other("a.com/b/c"): "test.hcl:1,10-21",
		},
		"Missing required argument": {
			block():                 `"version"`,
			block(`version = null`): "a.com/b/c",
		},
		"Invalid provider version number": {
			block(`version = 1`):                          `normalized form: "1.0.0"`,
			block(`version = "v1.0.0"`):                   `begin with "v"`,
			block(`version = "99999999999999999999.0.0"`): "too large",
			block(`version = "1.0"`):                      `normalized form: "1.0.0"`,
			block("version = <<EOT\n1.0.0\nEOT\n"):        "space",
		},
		"Unsuitable value type": {
			block(`version = []`):        "string",
			locked(`constraints = null`): "null",
			locked(`constraints = []`):   "string",
			locked(`hashes = [null]`):    "null",
		},
		"Variables not allowed": {
			block(`version = local.v`): "",
		},
		"Function calls not allowed": {
			block(`version = upper("1.0.0")`): "",
		},
		"Invalid provider version constraints": {
			locked(`constraints = " "`):     `form: ""`,
			locked(`constraints = "x y"`):   "wildcard",
			locked(`constraints = ">=1.0"`): `form: ">= 1.0.0"`,
		},
		"Invalid expression": {
			locked(`hashes = "h1:x"`):          "list",
			locked(`hashes = toset(["h1:x"])`): "list",
		},
		"Invalid provider hash set": {
			locked(`hashes = []`): "at least one",
		},
		"Invalid provider hash string": {
			locked(`hashes = ["x"]`):  `"x"`,
			locked(`hashes = [":x"]`): `":x"`,
		},
		"Unsupported argument": {
			locked(`foo = 1`): `"foo"`,
			"foo = 1\n":       `"foo"`,
		},
		"Unsupported block type": {
			locked("foo {\n}"): `"foo"`,
			"foo {\n}\n":       `"foo"`,
		},
		"Missing source_addr for provider": {
			"provider {\n}\n": "",
		},
		"Extraneous label for provider": {
			"provider \"a\" \"b\" {\n}\n": "",
		},
		"Attribute redefined": {
			locked(`version = "1.0.0"`): "",
		},
		"Argument or block definition required": {
			"{}": "",
			"<<<<<<< HEAD\n" + other("a.com/b/c") + "=======\n" + other("a.com/b/c") + ">>>>>>> theirs\n": "merge conflict",
			other("a.com/b/c") + ">>>>>>> theirs\n" + other("a.com/b/c"):                                  "merge conflict",
			block("version = \"1.0.0\"\n<<<<<<< HEAD\n=======\n>>>>>>> theirs"):                           "merge conflict",
		},
	} {
		for src, detail := range refused {
			_, diags := parse(src)
			if len(diags.Errs()) == 0 {
				t.Errorf("%s: no error", src)
				continue
			}
			first := diags[0]
			must.Equal(t, first.Summary, summary, src)
			must.Contain(t, first.Detail, detail, src)
			if first.Subject == nil || first.Subject.Filename != "test.hcl" {
				t.Errorf("%s: the error is at %v", src, first.Subject)
			}
		}
	}
}

func TestDecode_ReportsEveryProblemOnce(t *testing.T) {
	const src = `provider "registry.terraform.io/acme/AAA" {
  version = "1.0.0"
}
provider "a.com/b/c" {
  version     = "v1"
  constraints = ">=1"
  hashes      = ["x", "h1:a", "y"]
}
provider "a.com/b/d" {
  version = "1.0.0"
}
`
	l, diags := parse(src)
	var lines []int
	for _, diag := range diags {
		lines = append(lines, diag.Subject.Start.Line)
	}
	must.EqualSlices(t, lines, []int{1, 5, 6, 7, 7}, diags)
	if _, found := l.Provider(provider(t, "a.com/b/d")); !found {
		t.Error("the healthy entry is lost")
	}
	must.Len(t, l.All(), 1)
}

func TestDecode_AMergeConflictIsReportedAloneAndAtItsPlace(t *testing.T) {
	src := "# ünïcode\n" + block("version = \"1.0.0\"\n<<<<<<< HEAD\r\n=======\n>>>>>>> theirs")
	_, diags := parse(src)
	if len(diags) != 1 {
		t.Fatalf("got %v", diags)
	}
	at := diags[0].Subject
	if got := src[at.Start.Byte:at.End.Byte]; got != "<<<<<<< HEAD" || at.Start.Line != 4 {
		t.Errorf("it is at %q in line %d", got, at.Start.Line)
	}
}

func TestDecode_ModuleLocksAreWarnedAboutOnce(t *testing.T) {
	l, diags := parse("module \"a.b\" {\n}\nmodule \"c\" {\n  x = 1\n}\n" + locked())
	if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning || diags[0].Summary != "Dependency locks for modules are not yet supported" {
		t.Fatalf("got %v", diags)
	}
	if !strings.Contains(diags[0].Detail, "Terraform v1.15.9") || diags[0].Subject.Start.Line != 1 || diags[0].Extra != diagnostic.Code("lock_file") {
		t.Errorf("got %v", diags[0])
	}
	must.Len(t, l.All(), 1)
}

// Any of these would overflow the stack of a recursive parser.
func TestDecode_RefusesEndlessNesting(t *testing.T) {
	for _, piece := range []string{"[", "(", "{a=", "!", "- ", "-\n", "x[", "f(", "\"${", "1 ? 1 : ", "\"%{if a}", "[for a in ", "a {\n"} {
		// A file with more tokens than that is rejected for their number.
		for _, src := range []string{"a = (" + strings.Repeat(piece, 30_000), "a = (" + strings.Repeat(piece, 1_000_000)} {
			_, diags := parse(src)
			if len(diags) != 1 || !strings.Contains(diags[0].Detail, "nested too deeply") && !strings.Contains(diags[0].Detail, "words and signs") {
				t.Errorf("%q: %v", piece, diags)
			}
		}
	}
}

// Closing brackets in comments and texts don't count. The first line once overflowed the parser's stack.
func TestDecode_CommentsAndTextsCloseNoBrackets(t *testing.T) {
	for _, line := range []string{
		strings.Repeat("(", 900) + "#" + strings.Repeat(")", 1000) + "\n",
		strings.Repeat("[", 900) + "/*" + strings.Repeat("]", 1000) + "*/",
		strings.Repeat("{ a =", 300) + "//" + strings.Repeat("}", 400) + "\n",
		strings.Repeat("!", 900) + "/* a */",
		"[\"]\",",
		"(#)\n",
	} {
		_, diags := parse("a = " + strings.Repeat(line, 200_000/len(line)+1))
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, "nested too deeply") {
			t.Errorf("%.40q: %d problems, the first %v", line, len(diags), diags[:min(len(diags), 1)])
		}
	}
}

func TestDecode_LongFilesAreNotNested(t *testing.T) {
	l := &Locks{}
	for _, name := range []string{"a-a", "b-b", "c-c"} {
		hashes := make([]getproviders.Hash, 0, 1000)
		for i := range 1000 {
			hashes = append(hashes, getproviders.ZH([32]byte{byte(i), byte(i >> 8)}))
		}
		l.Set(lock(t, "my-acme/"+name, "1.0.0-a-b", "!= 1.0.0-a, !=1.1, != 1.2", hashes...))
	}
	if again := decode(t, string(l.Encode(terraform))); !again.Equal(l) {
		t.Error("a long file is read as something else")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("")
	f.Add(locked(`constraints = "~> 1.0, != 1.5.0"`, `hashes = ["zh:b", "h1:a", "h9:\"$${x}\n"]`))
	f.Add("module \"a\" {\n}\n<<<<<<< HEAD\n")
	f.Add(block(`version = null`, `hashes = [null, 1, "x"]`) + block(`version = "1"`))
	f.Add("provider \"испытание.com:8443/日本/x\" { version = \"1.0.0-a..b+c\" }\n")
	f.Add("\ufeffprovider a b {")
	f.Add(locked("hashes = [\"h1:\xed\xa0\x80\"]")) // half of a surrogate pair, which the parser takes
	f.Add(example)
	f.Fuzz(func(t *testing.T, src string) {
		l, diags := parse(src)
		if diags.HasErrors() {
			return
		}
		text := l.Encode(terraform)
		again, diags := Decode(text, "test.hcl", terraform)
		if diags.HasErrors() {
			t.Fatalf("can't read what was written: %v\n%s", diags, text)
		}
		for _, lock := range l.All() {
			lock.Hashes = hashing.Sort(lock.Hashes)
			got, _ := again.Provider(lock.Provider)
			if got.Version != lock.Version || got.Constraints.String() != lock.Constraints.String() || !slices.Equal(got.Hashes, lock.Hashes) {
				t.Errorf("%v was read back as %v", lock, got)
			}
		}
		if len(again.All()) != len(l.All()) || string(again.Encode(terraform)) != string(text) {
			t.Errorf("not stable:\n%s", text)
		}
	})
}
