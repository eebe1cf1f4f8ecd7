package depsfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/locktext"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// example is as Terraform 1.11.4 writes it.
const example = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "localhost:18443/acme/ddd" {
  version = "2.0.0"
}

provider "registry.terraform.io/acme/aaa" {
  version     = "1.1.0"
  constraints = ">= 0.5.0, ~> 1.0"
  hashes = [
    "h1:4n9XoMiJY2ZB7pBYwzlWFc7RrDOe+bbYb/E2A36Gi5M=",
    "zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  ]
}

provider "registry.terraform.io/acme/bbb" {
  version = "1.5.0"
  hashes = [
    "h1:q\"$${x}%%{y}\n\u0001é\u200b",
  ]
}

provider "испытание.com:8443/acme/ccc" {
  version     = "1.0.0-beta.1+x"
  constraints = "1.0.0-beta.1+x"
}
`

func exampleLocks(t testing.TB) *Locks {
	return locksOf(
		lock(t, "acme/aaa", "1.1.0", "~> 1.0, >= 0.5",
			"zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
			"h1:4n9XoMiJY2ZB7pBYwzlWFc7RrDOe+bbYb/E2A36Gi5M="),
		lock(t, "acme/bbb", "1.5.0", "", "h1:q\"${x}%{y}\n\u0001é\u200b"),
		lock(t, "испытание.com:8443/acme/ccc", "1.0.0-beta.1+x", "1.0.0-beta.1+x"),
		lock(t, "localhost:18443/acme/ddd", "2.0.0", ""),
	)
}

func TestEncode(t *testing.T) {
	must.Equal(t, string(exampleLocks(t).Encode(terraform)), example)
}

func TestEncode_Nothing(t *testing.T) {
	want := strings.Join(strings.SplitAfter(example, "\n")[:2], "")
	var none *Locks
	must.Equal(t, string(none.Encode(terraform)), want)
}

func TestEncode_NamesTheProductsProgram(t *testing.T) {
	const want = "# This file is maintained automatically by \"tofu init\".\n"
	must.Contain(t, string((&Locks{}).Encode(getproviders.Product{Program: "tofu"})), want)
}

func TestEncode_TheZeroProductIsTerraform(t *testing.T) {
	locks, diags := Decode([]byte(example), "test", getproviders.Product{})
	must.Len(t, diags, 0)
	must.Equal(t, string(locks.Encode(getproviders.Product{})), example)
}

func TestEncode_SortsWhatWasReadUnsorted(t *testing.T) {
	l := decode(t, locked(`hashes = ["zh:b", "h9:x", "h1:a", "h1:a"]`))
	const want = "  hashes = [\n    \"h1:a\",\n    \"h9:x\",\n    \"zh:b\",\n  ]\n"
	must.Contain(t, string(l.Encode(terraform)), want)
}

// Terraform's "providers lock" reads the file and writes it again, including
// entries of providers that the configuration doesn't need. If it changes no
// byte, it reads what we write and would have written the same.
func TestEncode_TerraformWritesTheSame(t *testing.T) {
	program, many := peertest.LookProgram(t, "terraform"), exampleLocks(t)
	for i, constraints := range []string{"", "1", "~> 1", "~> 1.2-beta+x", "> 1, < 2, != 1.5", "<= 1.0.0+9, <= 1.0.0+10, <= 1.0.0+a.b", "> 1.0.0-beta, > 1.0.0-alpha.1"} {
		for j, host := range []string{"registry.terraform.io", "a.com:1", "ä.com", "日本.jp", "z.com"} {
			many.Set(lock(t, fmt.Sprintf("%s/ns-%d/型%d", host, j, i), fmt.Sprintf("%d.%d.0", i, j), constraints,
				getproviders.ZH([32]byte{byte(i)}), getproviders.ZH([32]byte{byte(j), 1}), "h1:abc=", "h1:ABC="))
		}
	}
	for name, l := range map[string]*Locks{"none": {}, "many": many} {
		dir := t.TempDir()
		must.Write(t, filepath.Join(dir, "main.tf"), "terraform {\n}\n")
		path := filepath.Join(dir, FileName)
		must.Succeed(t, l.Save(path, terraform))
		out, err := peertest.Command(t.Context(), program, dir, nil, "providers", "lock").CombinedOutput()
		must.Succeed(t, err, name, string(out))
		must.Equal(t, string(must.Get(os.ReadFile(path))(t)), string(l.Encode(terraform)), name)
	}
}

func FuzzQuote_WritesAsTheWriterOfTheLanguageDoes(f *testing.F) {
	for _, text := range []string{"", "h1:a", "a\n\r\t\"\\$${x}%%{y}%$", "\u0001é\u200b\U000e0001", "e\u0301", "\xff$", "${", "$"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes())
		must.Equal(t, locktext.Quote(text), want)
	})
}

// Locks for modules, which a later version may write, survive changes of providers.
func TestEncode_KeepsBlocksForModules(t *testing.T) {
	t.Parallel()
	product := getproviders.Terraform("1.16.0")
	module := "module \"a\"   {\n\tversion = \"1.0.0\" # as it stands\n  x {\n  }\n}"
	for _, text := range []string{module, "module \"c\" {}"} {
		src := "# header\n\n" + text + "\n\nprovider \"tf.example.com/a/b\" {\n  version = \"1.0.0\"\n}\nmodule \"z\" {}\n"
		locks, diags := Decode([]byte(src), "lock.hcl", product)
		if diags.HasErrors() || len(diags) != 1 {
			t.Fatal(diags)
		}
		changed := locks.Clone()
		changed.Remove(locks.All()[0].Provider)
		if got := string(changed.Encode(product)); !strings.HasSuffix(got, "\n\n"+text+"\n\nmodule \"z\" {}\n") || strings.Contains(got, "provider ") {
			t.Errorf("%s", got)
		}
		again, diags := Decode(locks.Encode(product), "lock.hcl", product)
		if diags.HasErrors() || string(again.Encode(product)) != string(locks.Encode(product)) {
			t.Errorf("%s, %v", again.Encode(product), diags)
		}
	}
}
