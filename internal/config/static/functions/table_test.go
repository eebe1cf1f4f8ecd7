package functions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/json"

	"github.com/tfdeps/tfdeps/internal/must"
)

// results are expressions, with each function at least once, and their values as JSON. The working
// directory has the files of writeFiles.
var results = map[string]string{
	`abs(-3)`: `3`, `ceil(1.2)`: `2`, `floor(1.8)`: `1`, `log(8, 2)`: `3`, `max(1, 3, 2)`: `3`, `min(4, 2)`: `2`,
	`parseint("ff", 16)`: `255`, `fileset(".", "{d,e}/**/*.{tf,tofu}")`: `["d/a.tf","d/e/b.tf"]`, `pow(2, 10)`: `1024`, `signum(-9)`: `-1`, `sum([1, 2.5, "3"])`: `6.5`, `sum(toset([1, 1, 2]))`: `3`,

	`chomp("a\n\n")`: `"a"`, `lower("Ab")`: `"ab"`, `upper("ab")`: `"AB"`, `title("ab cd")`: `"Ab Cd"`, `strrev("abc")`: `"cba"`,
	`regex("[a-z]+", "12ab3")`: `"ab"`, `regex("(?P<x>\\d)", "a7")`: `{"x":"7"}`, `regexall("[ab]", "abc")`: `["a","b"]`,
	`split("/", "a/b")`: `["a","b"]`, `substr("hello", 1, -1)`: `"ello"`, `trim("?a?", "?")`: `"a"`, `trimprefix("ab", "a")`: `"b"`,
	`trimsuffix("ab", "b")`: `"a"`, `trimspace(" a ")`: `"a"`, `startswith("ab", "a")`: `true`, `endswith("ab", "a")`: `false`,
	`strcontains("abc", "bc")`: `true`, `format("%s-%03d", "a", 7)`: `"a-007"`, `formatlist("%s!", ["a", "b"])`: `["a!","b!"]`,
	`indent(2, "a\nb")`: `"a\n  b"`, `join(",", ["a", "b"], ["c"])`: `"a,b,c"`, `replace("a.b.c", ".", "-")`: `"a-b-c"`,
	`replace("a1b22", "/[0-9]+/", "[$0]")`: `"a[1]b[22]"`, `replace("ab", "", "-")`: `"-a-b-"`, `replace("a/b", "/", "")`: `"ab"`,

	`chunklist(["a", "b", "c"], 2)`: `[["a","b"],["c"]]`, `coalesce(null, "", "x", "y")`: `"x"`, `coalesce(1, 2)`: `1`,
	`coalescelist([], ["a"])`: `["a"]`, `compact(["a", "", null])`: `["a"]`, `concat(["a"], ["b"])`: `["a","b"]`,
	`contains(["a"], "a")`: `true`, `distinct(["a", "b", "a"])`: `["a","b"]`, `element(["a", "b"], 3)`: `"b"`, `flatten([["a"], [], [["b"]]])`: `["a","b"]`,
	`keys({ b = 1, a = 2 })`: `["a","b"]`, `values({ b = 1, a = 2 })`: `[2,1]`, `merge({ a = 1 }, { b = 2 })`: `{"a":1,"b":2}`, `range(1, 4)`: `[1,2,3]`,
	`reverse(["a", "b"])`: `["b","a"]`, `setintersection(["a", "b"], ["b"])`: `["b"]`, `setproduct(["a"], ["b", "c"])`: `[["a","b"],["a","c"]]`,
	`setsubtract(["a", "b"], ["b"])`: `["a"]`, `setunion(["a"], ["b"])`: `["a","b"]`, `slice(["a", "b", "c"], 1, 2)`: `["b"]`,
	`sort(["b", "a"])`: `["a","b"]`, `zipmap(["a", "b"], [1, 2])`: `{"a":1,"b":2}`,
	`alltrue([])`: `true`, `alltrue([true, "true"])`: `true`, `alltrue([true, null])`: `false`, `anytrue([])`: `false`, `anytrue([null, false, "true"])`: `true`,
	`index(["a", "b"], "b")`: `1`, `length("añb")`: `3`, `length({ a = 1 })`: `1`, `length([1, 2])`: `2`, `length(tomap({}))`: `0`,
	`lookup({ a = 1 }, "a")`: `1`, `lookup({ a = 1 }, "b", "c")`: `"c"`, `lookup(tomap({ a = 1 }), "b", "2")`: `2`,
	`matchkeys(["x", "y", "z"], ["1", "2", "1"], ["1"])`: `["x","z"]`, `matchkeys(["x"], ["1"], [])`: `[]`,
	`one([])`: `null`, `one(["a"])`: `"a"`, `one(toset(["a"]))`: `"a"`,
	`transpose({ a = ["1", "2"], b = ["2"] })`: `{"1":["a"],"2":["a","b"]}`, `transpose({})`: `{}`,

	`can(regex("a", "b"))`: `false`, `can("a")`: `true`, `try(tomap({ a = 1 })["x"], "y")`: `"y"`,
	`tobool("true")`: `true`, `tonumber("1.5")`: `1.5`, `tostring(true)`: `"true"`, `tolist(["a", 1])`: `["a","1"]`, `tomap({ a = 1, b = "x" })`: `{"a":"1","b":"x"}`,
	`toset(["b", "a", "b"])`: `["a","b"]`,

	`base64decode("YWI=")`: `"ab"`, `base64encode("ab")`: `"YWI="`, `base64sha256("a")`: `"ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="`,
	`substr(base64sha512("a"), 0, 10)`: `"H0D8ktokFp"`, `csvdecode("a,b\n1,2\n")`: `[{"a":"1","b":"2"}]`, `jsondecode("{\"a\": [1, null]}")`: `{"a":[1,null]}`,
	`jsonencode({ a = [1, "<"] })`: `"{\"a\":[1,\"\\u003c\"]}"`, `textencodebase64("ab", "UTF-16LE")`: `"YQBiAA=="`,
	`textdecodebase64("YQBiAA==", "UTF-16LE")`: `"ab"`, `textdecodebase64("6Q==", "ISO-8859-1")`: `"é"`, `textencodebase64("é€", "windows-1252")`: `"6YA="`,
	`textencodebase64("é", "ibm437")`: `"gg=="`, `textencodebase64("é", "utf-8")`: `"w6k="`, `textencodebase64("é", "UTF-16BE")`: `"AOk="`, `textencodebase64("a", "UTF-16")`: `"/v8AYQ=="`, `textencodebase64("ж", "koi8-r")`: `"1g=="`, `urlencode("a b/ü")`: `"a+b%2F%C3%BC"`,
	`yamldecode("a: [1, x]\nb: ~")`: `{"a":[1,"x"],"b":null}`, `yamlencode({ a = [1] })`: `"\"a\":\n- 1\n"`,
	`md5("a")`: `"0cc175b9c0f1b6a831c399e269772661"`, `sha1("a")`: `"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"`,
	`substr(sha256("a"), 0, 8)`: `"ca978112"`, `substr(sha512("a"), 0, 8)`: `"1f40fc92"`, `uuidv5("dns", "a.example")`: `"05149b90-bca9-5cf7-9708-f45959ecfde6"`,
	`formatdate("YYYY-MM", "2026-01-02T03:04:05Z")`: `"2026-01"`, `timeadd("2026-01-02T03:04:05Z", "1h")`: `"2026-01-02T04:04:05Z"`,
	`timecmp("2026-01-02T03:04:05Z", "2026-01-02T04:04:05+02:00")`: `1`,
	`cidrhost("10.0.0.0/8", 258)`:                                  `"10.0.1.2"`, `cidrhost("10.0.0.0/8", -1)`: `"10.255.255.255"`, `cidrhost("2001:db8::/32", 18446744073709551616)`: `"2001:db8:0:1::"`,
	`cidrnetmask("172.16.0.0/12")`: `"255.240.0.0"`, `cidrsubnet("10.0.0.0/8", 8, 3)`: `"10.3.0.0/16"`, `cidrsubnet("2001:db8::/32", 64, 18446744073709551615)`: `"2001:db8:ffff:ffff:ffff:ffff::/96"`,
	`cidrsubnets("10.0.0.0/8", 4, 8)`: `["10.0.0.0/12","10.16.0.0/16"]`,

	`issensitive(sensitive("a"))`: `true`, `issensitive("a")`: `false`, `nonsensitive(sensitive("a"))`: `"a"`, `issensitive(nonsensitive(sensitive("a")))`: `false`,
	`nonsensitive("a")`: `"a"`, `nonsensitive(upper(sensitive("a")))`: `"A"`, `ephemeralasnull("a")`: `"a"`,

	`file("s.txt")`: `"./c\n"`, `file("d/../s.txt")`: `"./c\n"`, `fileexists("s.txt")`: `true`, `fileexists("none")`: `false`, `filebase64("bin")`: `"/wA="`,
	`filemd5("s.txt")`: `"5ad8b729ab49381bc117cdc8f3ee1eaa"`, `filesha1("s.txt") == sha1(file("s.txt"))`: `true`,
	`filesha256("s.txt") == sha256(file("s.txt"))`: `true`, `filesha512("s.txt") == sha512(file("s.txt"))`: `true`,
	`filebase64sha256("s.txt") == base64sha256(file("s.txt"))`: `true`, `filebase64sha512("s.txt") == base64sha512(file("s.txt"))`: `true`,
	`fileset(".", "*.txt")`: `["s.txt"]`, `fileset("d", "**")`: `["a.tf","e/b.tf"]`, `fileset("d", "{a,x}.*")`: `["a.tf"]`, `fileset("none", "*")`: `[]`,
	`fileset("d/e", "../*.tf")`:                                 `["../a.tf"]`,
	`templatefile("t.tmpl", { name = "x", list = ["a", "b"] })`: `"x: A B "`, `basename("a/b.c")`: `"b.c"`, `dirname("a/b.c")`: `"a"`, `basename(abspath("x/../y"))`: `"y"`,
	`pathexpand("a/~")`: `"a/~"`,
	`core::upper("a")`:  `"A"`, `core::file("s.txt")`: `"./c\n"`,
}

// failing are calls that are errors, with a part of the message.
var failing = map[string]string{
	`sum([])`: "can't be empty", `sum([null])`: "must be a list, set or tuple of numbers", `sum({})`: "must be a list", `sum([1/0, -1/0])`: "",
	`coalesce("", null)`: "no non-null, non-empty-string arguments", `index([], 1)`: "isn't in the list", `index({}, 1)`: "must be a list or a tuple",
	`lookup({ a = 1 }, "b")`: `has no attribute "b"`, `lookup(tomap({ a = 1 }), "b")`: `no key "b"`, `lookup({}, "a", 1, 2)`: "two or three", `lookup(1, "a")`: "must be a map",
	`one([1, 2])`: "with one element or none", `one("a")`: "with one element", `matchkeys(["a"], [], [])`: "as many keys as values",
	`transpose({ a = [null] })`: "with a null", `list(1)`: "write tolist", `map("a", 1)`: "write tomap",
	`cidrhost("10.0.0.0", 1)`: "invalid CIDR", `cidrhost("10.0.0.0/30", 9)`: "accommodate", `cidrnetmask("2001:db8::/32")`: "no netmasks", `cidrsubnet("10.0.0.0/8", 999, 1)`: "longer by", `cidrsubnet("10.0.0.0/8", -99, 1)`: "",
	`timecmp("x", "y")`: "is not a time", `textencodebase64("a", "none")`: "not a known encoding", `textencodebase64("ä€", "US-ASCII")`: "", `textdecodebase64("?", "UTF-8")`: "isn't base64",
	`file("none")`: "there is no file none", `file("d")`: "isn't a file", `file("bin")`: "isn't text in UTF-8", `fileexists("d")`: "isn't a file", `file("~/x")`: "home directory isn't known",
	`file("~other/x")`: "other users", `fileset(".", "[")`: "not a pattern",
	// These took a minute, or would never have ended.
	`fileset(".", "` + strings.Repeat("{a,b}", 20) + `")`: "too many alternatives", `fileset(".", "` + strings.Repeat("**/", 30) + `x")`: "too many alternatives",
	`fileset(".", "` + strings.Repeat("{", 21) + `")`: "too many alternatives", `fileset(".", "` + strings.Repeat("{a,b,c}", 7) + `")`: "too many alternatives",
	`parseint(file("long"), 36)`: "too large", `yamldecode("` + strings.Repeat("[", 12_000) + `")`: "too large",
	`yamldecode("` + strings.Repeat("- ? ", 6_000) + `")`: "too large", `yamldecode("` + strings.Repeat("{a: ", 12_000) + `")`: "too large",
	`templatefile("t.tmpl", {})`: `has no "name"`, `templatefile("t.tmpl", "x")`: "must be a map", `templatefile("again.tmpl", {})`: "can't call templatefile", `templatefile("t.tmpl", { "a b" = 1 })`: "can't be the name",
	`templatestring("a", {})`: "must be a reference",
	`replace("a", "/(/", "")`: "missing closing",

	// Calls that would take too much time or memory.
	`format("%999999999s", "a")`: "too large", `format("%*s", 99999999, "a")`: "too large", `formatlist("%999d", [1])`: "too large", `indent(999999999, "a\nb")`: "too large", `indent(-1, "a\nb")`: "too large",
	`join(file("long"), range(1000))`: "too large", `replace(file("long"), "", file("long"))`: "too large", `replace(file("long"), "/./", "$0$0$0$0")`: "too large",
	`setproduct(range(1000), range(1000), range(1000), range(1000))`: "too large", `transpose({ (file("long")) = range(1000) })`: "too large",
	`yamldecode(file("bomb.yaml"))`: "too large", `regexall("((((.))))", file("longer"))`: "too large", `file("huge")`: "too much for a value",
}

const maxBytes = 1 << 20

// writeFiles makes the files that the expressions read.
func writeFiles(t *testing.T) string {
	t.Helper()
	return must.WriteAll(t, t.TempDir(), map[string]string{
		"s.txt": "./c\n", "bin": "\xff\x00", "d/a.tf": "", "d/e/b.tf": "", "long": strings.Repeat("x", 20_000), "longer": strings.Repeat("x", 500_000),
		"huge":       strings.Repeat("x", maxBytes+1),
		"t.tmpl":     "${name}: %{ for x in list }${upper(x)} %{ endfor }",
		"again.tmpl": `${templatefile("t.tmpl", {})}`,
		"bomb.yaml":  "a: &a [" + strings.Repeat("x, ", 1000) + "x]\nb: [" + strings.Repeat("*a, ", 2000) + "*a]\n",
	})
}

func environment(files Files) Environment {
	return Environment{Files: files, MaxBytes: maxBytes,
		Parse: func(text, name string) (hclsyntax.Expression, error) {
			expr, diags := hclsyntax.ParseTemplate([]byte(text), name, hcl.InitialPos)
			if diags.HasErrors() {
				return nil, diags
			}
			return expr, nil
		}}
}

func evaluate(t *testing.T, env Environment, src string) (cty.Value, hcl.Diagnostics) {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(src), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", src, diags)
	}
	return expr.Value(&hcl.EvalContext{Functions: Table(env), Variables: map[string]cty.Value{
		"local": cty.ObjectVal(map[string]cty.Value{"t": cty.StringVal("<${a}>"), "later": cty.UnknownVal(cty.String), "secret": cty.StringVal("s").Mark(Sensitive)}),
	}})
}

func TestTable_Results(t *testing.T) {
	env := environment(Files{Dir: writeFiles(t)})
	for expr, want := range results {
		val, diags := evaluate(t, env, expr)
		if diags.HasErrors() {
			t.Errorf("%s: %v", expr, diags)
			continue
		}
		must.Equal(t, string(must.Get(json.SimpleJSONValue{Value: val}.MarshalJSON())(t)), want, expr)
	}
}

// openTofuResults are results of OpenTofu's functions that Terraform doesn't have, or that return
// something else there.
var openTofuResults = map[string]string{
	`urldecode("a+b%2F%C3%BC")`: `"a b/ü"`, `base64gunzip(base64gzip("ab"))`: `"ab"`, `core::urldecode("%20")`: `" "`, `templatestring("[$${a}]", { a = 1 })`: `"[1]"`,
	`cidrcontains("10.0.0.0/8", "10.1.2.3")`: `true`, `cidrcontains("10.0.0.0/8", "11.0.0.0/9")`: `false`, `cidrcontains("10.0.0.0/8", "10.0.0.0/7")`: `false`,
	`cidrcontains("10.0.0.0/8", "10.0.0.0/9")`: `true`, `cidrcontains("2001:db8::/32", "2001:db8::1")`: `true`,
}

func TestTable_OpenTofu(t *testing.T) {
	env := environment(Files{Dir: writeFiles(t)})
	for expr := range openTofuResults {
		if _, diags := evaluate(t, env, expr); !diags.HasErrors() {
			t.Errorf("Terraform has %s", expr)
		}
	}
	env.OpenTofu = true
	for expr, want := range openTofuResults {
		val, diags := evaluate(t, env, expr)
		got, err := json.SimpleJSONValue{Value: val}.MarshalJSON()
		if err != nil || diags.HasErrors() || string(got) != want {
			t.Errorf("%s is %s, want %s (%v, %v)", expr, got, want, err, diags)
		}
	}
	bomb := `base64gunzip(base64gzip(join("", [for i in range(1100) : format("%1000s", "")])))`
	for _, src := range []string{`convert("1", number)`, `base64gunzip("ab")`, `base64gunzip("%")`, `urldecode("%zz")`, `cidrcontains("10.0.0.0/8", "::1")`, `cidrcontains("x", "10.0.0.1")`,
		`cidrcontains("10.0.0.0/8", "x")`, bomb} {
		if val, diags := evaluate(t, env, src); !diags.HasErrors() {
			t.Errorf("%s is %#v, want an error", src, val)
		}
	}
}

func TestSize_UnknownElementOfASet(t *testing.T) {
	if size := Size(cty.SetVal([]cty.Value{cty.UnknownVal(cty.String)}), 100); size > 10 {
		t.Errorf("the size is %d", size)
	}
}

func TestTable_Errors(t *testing.T) {
	env := environment(Files{Dir: writeFiles(t)})
	for expr, want := range failing {
		val, diags := evaluate(t, env, expr)
		if !diags.HasErrors() {
			t.Errorf("%s is %#v, want an error", expr, val)
		} else if !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v, want %q", expr, diags, want)
		}
	}
}

// Values that only a plan knows are unknown, like those that depend on them; secrets stay secret.
func TestTable_UnknownAndSecret(t *testing.T) {
	env := environment(Files{Dir: writeFiles(t)})
	for _, src := range []string{`timestamp()`, `plantimestamp()`, `uuid()`, `bcrypt("x", 31)`, `upper(local.later)`, `file(local.later)`, `coalesce(local.later, "a")`,
		`lookup({ a = 1 }, local.later)`, `templatefile("t.tmpl", { name = local.later, list = [] })`, `templatestring(local.later, {})`} {
		if val, diags := evaluate(t, env, src); diags.HasErrors() || val.IsWhollyKnown() {
			t.Errorf("%s is %#v (%v), want an unknown value", src, val, diags)
		}
	}
	for _, src := range []string{`sensitive("a")`, `upper(local.secret)`, `[local.secret, "b"][0]`, `templatefile("t.tmpl", { name = local.secret, list = [] })`, `lookup({ a = 1 }, local.secret, 2)`,
		`replace("as", local.secret, "x")`, `join(local.secret, ["a", "b"])`} {
		if val, diags := evaluate(t, env, src); diags.HasErrors() || !val.HasMarkDeep(Sensitive) {
			t.Errorf("%s is %#v (%v), want a sensitive value", src, val, diags)
		}
	}
	if val, diags := evaluate(t, env, `templatestring(local.t, { a = 1 })`); diags.HasErrors() || val.AsString() != "<1>" {
		t.Errorf("templatestring is %#v (%v)", val, diags)
	}
}

// A foreign module reads no file outside of its package.
func TestTable_FilesWithin(t *testing.T) {
	dir := writeFiles(t)
	linked := must.Symlink(filepath.Join(dir, "s.txt"), filepath.Join(dir, "d/out.txt")) == nil
	env := environment(Files{Dir: dir, Within: filepath.Join(dir, "d"), Home: dir})
	for _, src := range []string{`file("s.txt")`, `file("d/../s.txt")`, `file("d/out.txt")`, `fileexists("s.txt")`, `fileexists("none")`, `file("~/s.txt")`, `filesha256("s.txt")`,
		`fileset(".", "*")`, `fileset("d", "../*")`, `fileset("d", "*")`, `templatefile("t.tmpl", {})`, `file("` + filepath.ToSlash(dir) + `/s.txt")`} {
		t.Run(src, func(t *testing.T) {
			if !linked && (strings.Contains(src, "out.txt") || src == `fileset("d", "*")`) {
				t.Skip("no symbolic links here")
			}
			if val, diags := evaluate(t, env, src); !diags.HasErrors() || !strings.Contains(diags.Error(), "reads no other files") {
				t.Errorf("%#v (%v), want an error", val, diags)
			}
		})
	}
	for _, src := range []string{`file("d/a.tf")`, `file("d/e/b.tf")`, `fileset("d/e", "*")`, `fileexists("d/none")`} {
		if _, diags := evaluate(t, env, src); diags.HasErrors() {
			t.Errorf("%s: %v", src, diags)
		}
	}
}

// Files are read from the given file system, and "~" is the given home.
func TestTable_FilesElsewhere(t *testing.T) {
	env := environment(Files{FS: fstest.MapFS{"m/s.txt": {Data: []byte("x")}, "m/d/a": {Data: []byte("y")}}, Dir: "m"})
	for src, want := range map[string]string{`file("s.txt")`: "x", `one(fileset("d", "*"))`: "a", `abspath("x")`: "m/x", `file("${"s"}.txt")`: "x"} {
		if val, diags := evaluate(t, env, src); diags.HasErrors() || val.AsString() != want {
			t.Errorf("%s is %#v (%v), want %q", src, val, diags, want)
		}
	}
	dir := writeFiles(t)
	if err := must.Symlink("..", filepath.Join(dir, "d/up")); err == nil {
		env = environment(Files{FS: os.DirFS(dir), Dir: "d", Within: "d"})
		for _, src := range []string{`file("up/s.txt")`, `fileset("up", "*")`, `fileset(".", "up/*")`, `fileexists("../s.txt")`} {
			if val, diags := evaluate(t, env, src); !diags.HasErrors() || !strings.Contains(diags.Error(), "reads no other files") {
				t.Errorf("out of its package, %s is %#v (%v), want an error", src, val, diags)
			}
		}
	}
	env = environment(Files{Dir: "elsewhere", Home: writeFiles(t)})
	if val, diags := evaluate(t, env, `file("~/s.txt")`); diags.HasErrors() || val.AsString() != "./c\n" {
		t.Errorf("a file in the home directory: %#v (%v)", val, diags)
	}
	if _, diags := evaluate(t, environment(Files{}), `file("s.txt")`); !diags.HasErrors() {
		t.Error("a file is read relative to no directory")
	}
}
