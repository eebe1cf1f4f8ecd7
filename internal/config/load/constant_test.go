package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/static/functions"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/zclconf/go-cty/cty"
)

// loadWith loads a module and returns its problems, with those of its calls, and the sources of
// the calls.
func loadWith(t *testing.T, opts Options, files texts) (*Module, hcl.Diagnostics) {
	t.Helper()
	module, diags := LoadModuleWith(writeFiles(t, files), asTerraform, opts)
	for _, call := range module.Calls {
		diags = append(diags, call.Problems()...)
	}
	return module, diags
}

func TestLoadModule_SourcesAreComputed(t *testing.T) {
	const constants = `
resource "aws_vpc" "x" {}
data "aws_vpc" "y" {}
module "z" { source = "./z" }
variable "env" {
  const   = true
  default = "dev"
}
variable "plain" {
  default = "x"
}
variable "key" {
  sensitive = true
  default   = "hidden"
}
variable "token" {
  ephemeral = true
  default   = "t"
}
variable "object" {
  const = true
  type = object({
    name = optional(string, "net")
    n    = optional(number, 2)
  })
  default = {}
}
variable "required" {
  const = true
}
variable "nothing" {
  const   = true
  default = null
}
locals {
  base    = "./modules"
  dir     = "${local.base}/${var.env}"
  loop    = local.pool
  pool    = local.loop
  plain   = var.plain
  unknown = aws_vpc.x.id
  lost    = aws_vpc.gone.id
  parts   = { a = "./c", b = aws_vpc.x.id, c = data.aws_vpc.y.id, d = module.z.x }
  uncertain = { a = "./c", b = aws_vpc.gone.id }
  named   = provider::aws::name("x")
  typed   = convert("./a", string)
  all     = [for x in ["a"] : x]
  secret  = upper(sensitive("hidden"))
}
`
	loadSource := func(t *testing.T, source string) (*Module, hcl.Diagnostics) {
		return loadWith(t, Options{}, texts{
			"main.tf": constants + "module \"m\" {\n  source = " + source + "\n}\n",
			"s.txt":   "./from-a-file\n", "t.tmpl": "./${x}",
			"loops.tmpl": "%{ for a in range(1000) }%{ for b in range(1000) }%{ for c in range(1000) }x%{ endfor }%{ endfor }%{ endfor }",
		})
	}
	for source, want := range map[string]string{
		`"./${var.env}"`:                         "./dev",         // variable
		`local.dir`:                              "./modules/dev", // local value
		`"./${var.object.name}-${var.object.n}"`: "./net-2",       // attribute
		`var.env == "dev" ? "./a" : "./b"`:       "./a",           // operators
		`format("./%s-%02d", join("/", ["a", upper(var.env)]), length("xy"))`: "./a/DEV-02",    // functions
		`replace("./a_b", "_", "-")`:                                          "./a-b",         // replacing
		`"${path.module}/x"`:                                                  "$DIR/x",        // path
		`"${path.root}/x"`:                                                    "$DIR/x",        // root path
		"<<-EOT\n./a\nEOT":                                                    "./a\n",         // heredoc
		`convert(["./a"], list(string))[0]`:                                   "./a",           // type
		`[for x in ["a"] : convert("./${x}", any)][0]`:                        "./a",           // types in a loop
		`local.typed`:                                                         "./a",           // type behind a local value
		`"./${local.all[0]}"`:                                                 "./a",           // loop
		`"./${{ for k, v in { a = "b" } : v => k if k != "" }["b"]}"`:         "./a",           // loop for a map
		`"./%{ for x in ["a", "b"] }${x}%{ endfor }"`:                         "./ab",          // loop in a template
		`"./${join("", [{ x = "a" }, { x = "b" }][*].x)}"`:                    "./ab",          // splat
		`"./${core::lower("A")}"`:                                             "./a",           // namespace of the language
		`local.parts.a`:                                                       "./c",           // part of a value that is known
		`trimspace(file("s.txt"))`:                                            "./from-a-file", // file
		`trimspace(file("${path.module}/s.txt"))`:                             "./from-a-file", // file of the module
		`templatefile("t.tmpl", { x = "a" })`:                                 "./a",           // template
		`"./${nonsensitive(sensitive("hidden"))}"`:                            "./hidden",      // secret that isn't one any more
		`replace("./a1", "/[0-9]/", "b")`:                                     "./ab",          // regular expression
	} {
		module, diags := loadSource(t, source)
		must.Equal(t, module.Calls[0].Source, strings.ReplaceAll(want, "$DIR", strings.ReplaceAll(module.Dir, "\\", "/")), source)
		checkProblem(t, diags, "", source)
	}
	for source, problem := range map[string]string{
		`"${path.cwd}/x"`:   "Unknown module source",      // unknown path
		`"./${var.plain}"`:  "Unknown module source",      // plain variable
		`local.plain`:       "Unknown module source",      // plain variable behind a local value
		`aws_vpc.x.id`:      "Invalid module source",      // resource
		`local.unknown`:     "Unknown module source",      // resource behind a local value
		`module.x.y`:        "Invalid module source",      // module
		`"./${var["env"]}"`: "Invalid reference",          // all variables
		`local`:             "Invalid reference",          // all local values
		`env`:               "Invalid reference",          // name
		`lower(string)`:     "Unknown variable",           // type as a value
		`path.home`:         "Invalid \"path\" attribute", // no such path
		`var.required`:      "Unknown module source",      // no value
		`local.loop`:        "Circular reference",         // cycle
		`length([for a in range(1000) : [for b in range(1000) : [for c in range(1000) : "x"]]]) > 0 ? "./a" : "./b"`: "Expression too complex", // loops without an end
		`local.uncertain.a`:              "Reference to undeclared resource",       // part of a value that refers to nothing
		`local.named`:                    "Unknown module source",                  // function of a provider
		`local.lost`:                     "Reference to undeclared resource",       // undeclared resource behind a local value
		`templatefile("loops.tmpl", {})`: "Expression too complex",                 // template with a loop without an end
		`timestamp()`:                    "Unknown module source",                  // time
		`"./${sensitive("hidden")}"`:     "Unknown module source",                  // sensitive
		`"./${var.key}"`:                 "Unknown module source",                  // sensitive variable
		`local.secret`:                   "Unknown module source",                  // sensitive behind a local value
		`"./${var.token}"`:               "Unknown module source",                  // ephemeral
		`var.nothing`:                    "Unsuitable module source",               // null
		`["./a"]`:                        "Incorrect value type",                   // list
		`var.gone`:                       "Reference to undeclared input variable", // no such variable
		`local.gone`:                     "Reference to undeclared local value",    // no such local value
		`fil("x")`:                       "Call to unknown function",               // no such function
		`file("x")`:                      "Invalid function argument",              // no such file
		`format("%999999999s", "a")`:     "Error in function call",                 // wide
	} {
		if testing.Short() && problem == "Expression too complex" {
			continue // they end after a second's work
		}
		module, diags := loadSource(t, source)
		must.Equal(t, module.Calls[0].Source, "", source)
		checkProblem(t, diags, problem, source)
	}
}

// checkProblem checks that there is one problem with a summary, or no problem if the summary is "".
func checkProblem(t *testing.T, diags hcl.Diagnostics, summary string, of ...any) {
	t.Helper()
	if summary == "" && len(diags) > 0 || summary != "" && (len(diags) != 1 || diags[0].Summary != summary) {
		t.Errorf("%v: problems %v, want %q", of, diags, summary)
	}
	for _, diag := range diags {
		if strings.Contains(diag.Error(), "hidden") || diag.EvalContext != nil {
			t.Errorf("%v: the problem tells what is sensitive: %v", of, diag)
		}
	}
}

func TestLoadModule_InputsOfTheModuleDecide(t *testing.T) {
	for _, tt := range []struct {
		path, variable string
		input          cty.Value
		want           string // the source, or a problem
	}{
		{"", "", cty.StringVal("a"), "./a"},
		{"", "type = string", cty.NumberIntVal(3), "./3"},
		{"", `default = "b"`, cty.StringVal("a"), "./a"},
		{"", "", cty.NilVal, "No value for required variable"},
		{"module.a", "", cty.NilVal, "Unknown module source"},
		{"module.a", `default = "b"`, cty.DynamicVal, "Unknown module source"},
		{"", "type = bool", cty.StringVal("hidden"), "Invalid value for input variable"},
		{"", "nullable = false", cty.NullVal(cty.String), "Required variable not set"},
		{"", "nullable = false\ndefault = \"b\"", cty.NullVal(cty.String), "./b"},
		{"", "", cty.StringVal("hidden").Mark(functions.Sensitive), "Unknown module source"},
	} {
		opts := Options{Inputs: Values{}, Path: tt.path}
		if tt.input != cty.NilVal {
			opts.Inputs["x"] = tt.input
		}
		module, diags := loadWith(t, opts, texts{"main.tf": fmt.Sprintf(
			"variable \"x\" {\n  const = true\n%s\n}\nmodule \"m\" {\n  source = \"./${var.x}\"\n}\n", tt.variable)})
		source, problem := "", tt.want
		if strings.HasPrefix(tt.want, "./") {
			source, problem = tt.want, ""
		}
		must.Equal(t, module.Calls[0].Source, source, tt)
		checkProblem(t, diags, problem, tt)
	}
}

func TestLoadModule_CallsPassOnWhatIsKnown(t *testing.T) {
	module := load(t, texts{"main.tf": `
variable "env" {
  const   = true
  default = "dev"
}
variable "plain" {}
module "m" {
  source  = "./a"
  count   = 2
  literal = 1
  env     = var.env
  plain   = var.plain
  other   = data.x.y.z
  each    = [for x in [1] : x]
}
`, "override.tf": `
module "m" {
  literal = 2
}
`})
	got := module.Calls[0].Inputs
	for name, want := range map[string]cty.Value{
		"literal": cty.NumberIntVal(2), "env": cty.StringVal("dev"),
		"plain": cty.DynamicVal, "other": cty.DynamicVal, "each": cty.TupleVal([]cty.Value{cty.NumberIntVal(1)}),
	} {
		if val, _ := got[name].Unmark(); !val.RawEquals(want) {
			t.Errorf("%s is %#v, want %#v", name, val, want)
		}
		delete(got, name)
	}
	must.Len(t, got, 0)
}

func TestLoadModule_SourcesInJSONAreTemplates(t *testing.T) {
	module, diags := loadWith(t, Options{}, texts{"main.tf.json": `{
		"variable": {"x": {"const": true, "default": "a"}},
		"locals": {"dir": {"${var.x}": ["./${var.x}", 1]}},
		"module": {"m": {"source": "${local.dir.a[0]}/$${y}"}}
	}`})
	must.Equal(t, module.Calls[0].Source, "./a/${y}")
	must.Len(t, diags, 0)
}

func TestLoadModule_OverridesChangeConstants(t *testing.T) {
	module, diags := loadWith(t, Options{}, texts{
		"main.tf":     "variable \"x\" {\n  const = true\n}\nlocals {\n  y = 1\n}\nmodule \"m\" {\n  source = \"./${var.x}${local.y}\"\n}\n",
		"override.tf": "variable \"x\" {\n  default = \"b\"\n}\nlocals {\n  y = 2\n}\n",
	})
	must.Equal(t, module.Calls[0].Source, "./b2")
	must.Len(t, diags, 0)
}

func TestLoadModule_ReportsAProblemOfAValueOnce(t *testing.T) {
	_, diags := loadWith(t, Options{}, texts{
		"main.tf": "locals {\n  x = nofunction()\n}\nmodule \"a\" {\n  source = local.x\n}\nmodule \"b\" {\n  source = local.x\n}\n",
	})
	checkProblem(t, diags, "Call to unknown function")
}

func TestLoadModule_ProposesTheSameFunctionEachTime(t *testing.T) {
	for range 20 {
		for _, namespace := range []string{"", "core::"} {
			_, diags := loadWith(t, Options{}, texts{"main.tf": "module \"a\" {\n  source = " + namespace + "mix(\"x\")\n}\n"})
			must.Contain(t, diags, fmt.Sprintf("no function named %q. Did you mean %q?", namespace+"mix", namespace+"max")) // and not "min"
		}
	}
}

func TestLoadModule_ComputingHasItsLimits(t *testing.T) {
	var doubling, chain strings.Builder
	for i := range 100 {
		fmt.Fprintf(&doubling, "  x%d = \"${local.x%d}${local.x%d}\"\n  t%d = [local.t%d, local.t%d]\n", i, i+1, i+1, i, i+1, i+1)
	}
	for i := range 20_000 {
		fmt.Fprintf(&chain, "  x%d = local.x%d\n", i, i+1)
	}
	for _, tt := range []struct{ name, locals, source, problem string }{
		{"text that doubles", doubling.String() + "x100 = \"a\"\n", "local.x0", "Value too large"},
		{"lists that double", doubling.String() + "t100 = []\n", `length(local.t0) == 2 ? "./a" : "./b"`, "Value too large"},
		{"chain", chain.String() + "x20000 = \"./a\"\n", "local.x0", "Local values nested too deeply"},
		{"joining", "long = \"" + strings.Repeat("a", 700_000) + "\"\n", `join(local.long, ["a", "b", "c"])`, "Error in function call"},
		{"replacing", "long = \"" + strings.Repeat("a", 30_000) + "\"\n", `replace(local.long, "a", local.long)`, "Error in function call"},
		{"formatting", "long = \"" + strings.Repeat("a", 700_000) + "\"\n", `format("%[1]s%[1]s", local.long)`, "Error in function call"},
	} {
		if testing.Short() && tt.name == "lists that double" {
			continue // they end after a second's work
		}
		_, diags := loadWith(t, Options{}, texts{
			"main.tf": "locals {\n" + tt.locals + "}\nmodule \"m\" {\n  source = " + tt.source + "\n}\n",
		})
		checkProblem(t, diags, tt.problem, tt.name)
	}
}

// TestLoadModule_LocalsOfArgumentsAreEvaluated has local values, of which an argument of a call refers to local.a, and the problem
// since Terraform 1.15.
func TestLoadModule_LocalsOfArgumentsAreEvaluated(t *testing.T) {
	t.Parallel()
	const declared = "variable \"v\" {}\nresource \"aws_vpc\" \"x\" {}\ndata \"aws_vpc\" \"x\" {}\n"
	for locals, want := range map[string]string{
		"a = var.gone":          "Reference to undeclared input variable",
		"a = \"x-${var.gone}\"": "Reference to undeclared input variable",
		"a = local.gone":        "Reference to undeclared local value",
		"a = local.b\n  b = local.c\n  c = var.gone": "Reference to undeclared input variable",
		"a = aws_vpc.gone.id":                        "Reference to undeclared resource",
		"a = data.aws_vpc.gone.id":                   "Reference to undeclared resource",
		"a = module.gone.id":                         "Reference to undeclared module",
		"a = lowr(\"A\")":                            "Call to unknown function",
		"a = 1 + \"b\"":                              "Invalid operand",
		"a = {}.b":                                   "Unsupported attribute",
		"a = path.nope":                              "Invalid \"path\" attribute",
		"a = [for k in [1] : var.gone]":              "Reference to undeclared input variable",
		"a = local.b\n  b = local.a":                 "Circular reference",
		"a = 1\n  b = var.gone":                      "", // the argument doesn't need it
		"a = var.v + 1":                              "",
		"a = aws_vpc.x.id":                           "",
		"a = data.aws_vpc.x.nope":                    "",
		"a = module.m.id":                            "",
		"a = path.cwd":                               "",
		"a = terraform.workspace":                    "",
		"a = provider::x::f(1)":                      "",
		"a = timestamp()":                            "",
		"a = file(\"none\")":                         "", // may be there for Terraform
		"a = format(\"%999999999s\", \"a\")":         "", // a limit
		"a = [for k in range(1024) : [for l in range(1024) : \"xxxxxxxx\"]]": "", // another one
	} {
		for _, argument := range []string{"x = local.a", "x = [{ y = \"${local.a}\" }]", "_ {\n    x = local.a\n  }"} {
			dir := writeFiles(t, texts{"main.tf": declared + "locals {\n  " + locals + "\n}\nmodule \"m\" {\n  source = \"./m\"\n  " + argument + "\n}\n"})
			for product, isEvaluated := range map[getproviders.Product]bool{
				getproviders.Terraform("1.15.9"): true,
				getproviders.Terraform("1.16.0"): true,
				getproviders.Terraform("1.14.9"): false,
			} {
				_, problems := LoadModule(dir, product)
				if isEvaluated {
					checkProblem(t, problems, want, locals, argument)
				} else {
					checkProblem(t, problems, "", locals, argument, product.Version)
				}
			}
			_, problems := LoadModule(dir, getproviders.OpenTofu("1.12.6"))
			checkProblem(t, problems, "", locals, argument)
		}
	}
}

// The places of calls that refer to no local value, or that plan alone looks at, don't matter.
func TestLoadModule_LocalsOfOtherPlacesAreNotEvaluated(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"module \"m\" {\n  source = \"./m\"\n  x = local.undeclared\n}\n",
		"module \"m\" {\n  source = \"./m\"\n  x = var.undeclared\n}\n",
		"module \"m\" {\n  source = \"./m\"\n  count = local.a\n}\n",
		"module \"m\" {\n  source = \"./m\"\n  for_each = local.a\n}\n",
		"output \"x\" {\n  value = local.a\n}\n",
		"resource \"x_y\" \"z\" {\n  x = local.a\n}\n",
	} {
		_, problems := LoadModule(writeFiles(t, texts{"main.tf": "locals {\n  a = var.gone\n}\n" + text}), asTerraform)
		checkProblem(t, problems, "", text)
	}
}

// Several calls, arguments and sources that refer to a wrong local value report it once, also in JSON.
func TestLoadModule_LocalsOfArgumentsAreReportedOnce(t *testing.T) {
	t.Parallel()
	calls := "module \"m\" {\n  source = \"./m\"\n  x = local.a\n  y = local.a\n}\nmodule \"n\" {\n  source = \"./m\"\n  x = local.a\n}\n"
	for _, text := range []string{calls, calls + "module \"a\" {\n  source = local.a\n  x = local.a\n}\n"} {
		_, problems := loadWith(t, Options{}, texts{"main.tf": "locals {\n  a = var.gone\n}\n" + text})
		must.Len(t, problems, 1)
	}
	_, problems := loadWith(t, Options{}, texts{"main.tf.json": `{"locals": {"a": "${var.gone}"}, "module": {"m": {"source": "./m", "x": {"y": ["${local.a}"]}}}}`})
	checkProblem(t, problems, "Reference to undeclared input variable")
}

// A constant variable of a module gets a known value, which fulfils its conditions.
func TestLoadModule_ConstantsOfCalls(t *testing.T) {
	const child = `
variable "v" {
  const = true
  validation {
    condition     = length(var.v) < 5
    error_message = "Too long: ${var.v}."
  }
}
module "m" { source = "./${var.v}" }
`
	for value, want := range map[string]string{ // the source, and a problem behind a bar
		`"a"`:                   "./a|",
		`join("-", ["a", "b"])`: "./a-b|",
		"aws_vpc.x.id":          "|Const variables must be known",
		`"a${aws_vpc.x.id}"`:    "|Const variables must be known",
		"var.plain":             "|Const variables must be known",
		"aws_vpc.y.id":          "|Reference to undeclared resource",
		`"abcdef"`:              "./abcdef|Invalid value for variable",
	} {
		root, diags := loadWith(t, Options{}, texts{"main.tf": "variable \"plain\" {}\nresource \"aws_vpc\" \"x\" {}\nmodule \"c\" {\n  source = \"./c\"\n  v = " + value + "\n  other = aws_vpc.z.id\n}\n"})
		checkProblem(t, diags, "", value)
		module, diags := loadWith(t, Options{Path: "module.c", Inputs: root.Calls[0].Inputs}, texts{"main.tf": child})
		source, problem, _ := strings.Cut(want, "|")
		if problem == "Invalid value for variable" {
			must.Contain(t, diags, "Too long: abcdef.", value)
		}
		checkProblem(t, diags, problem, value)
		must.Equal(t, module.Calls[0].Source, source, value)
	}
}
