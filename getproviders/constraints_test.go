package getproviders

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// The canonical texts are those that Terraform 1.11.4 wrote into lock files, or required there.
func TestConstraints_CanonicalText(t *testing.T) {
	for given, canonical := range map[string]string{
		"":                       "",
		" \t\n":                  "",
		"1":                      "1.0.0",
		"= 1":                    "1.0.0",
		"=1.2":                   "1.2.0",
		"01.0":                   "1.0.0",
		"> 1":                    "> 1.0.0",
		">=1.0.0":                ">= 1.0.0",
		">= 1.":                  ">= 1.0.0",
		"< 1":                    "< 1.0.0",
		"<= 1":                   "<= 1.0.0",
		"!=1.0":                  "!= 1.0.0",
		"!= 0.0.0":               "!= 0.0.0",
		"~> 1":                   "~> 1.0",
		"~>1":                    "~> 1.0",
		"~> 0":                   "~> 0.0",
		"~> 1.":                  "~> 1.0",
		"~> 1.2":                 "~> 1.2",
		"~> 1.2.":                "~> 1.2",
		"~> 1.2.3":               "~> 1.2.3",
		"~> 1-beta":              "~> 1.0-beta",
		"~> 1.2-beta":            "~> 1.2-beta",
		"~> 1.2.3-beta+x":        "~> 1.2.3-beta+x",
		"~> 1+b":                 "~> 1.0+b",
		"> 1.0.0+b":              "> 1.0.0+b",
		"1.0.0-a..b":             "1.0.0-a..b",
		"1.0.0-":                 "1.0.0",
		">1.0.0-BETA":            "> 1.0.0-BETA",
		"1.0.0,":                 "1.0.0",
		"1.0.0 , ":               "1.0.0",
		"  1.0.0":                "1.0.0",
		"\u00a01.0.0":            "1.0.0",
		">1.0 ,<2.0":             "> 1.0.0, < 2.0.0",
		"1.0.0,\n2.0.0":          "1.0.0, 2.0.0",
		"1.0.0, 01.0.0":          "1.0.0",
		">= 1.0, >= 1.0.0":       ">= 1.0.0",
		"!=1,>2":                 "!= 1.0.0, > 2.0.0",
		"~>1.0,~>1.1":            "~> 1.0, ~> 1.1",
		"~> 1.0, ~> 1.0.0":       "~> 1.0.0, ~> 1.0",
		"~> 1.0.0, >= 1, != 1.5": ">= 1.0.0, ~> 1.0.0, != 1.5.0",
		"< 2.0, >= 1.0, < 3":     ">= 1.0.0, < 2.0.0, < 3.0.0",
		"1.0.0+b, 1.0.0+a":       "1.0.0+a, 1.0.0+b",
		"<= 1.0.0+x, <= 1.0.0":   "<= 1.0.0, <= 1.0.0+x",
		"> 1.0.0+a, < 1.0.0":     "< 1.0.0, > 1.0.0+a",
		"!= 1.0.0+a, != 1.0.0":   "!= 1.0.0, != 1.0.0+a",
		"> 1.0.0+10, > 1.0.0+9, > 1.0.0+a.b, > 1.0.0+b":                           "> 1.0.0+9, > 1.0.0+10, > 1.0.0+b, > 1.0.0+a.b",
		"> 1.0.0-beta, > 1.0.0-alpha, > 1.0.0":                                    "> 1.0.0-alpha, > 1.0.0-beta, > 1.0.0",
		"> 1.0.0-alpha.1, > 1.0.0-beta":                                           "> 1.0.0-beta, > 1.0.0-alpha.1",
		"!= 1.0.0, < 1.0.0, <= 1.0.0, ~> 1.0, ~> 1.0.0, 1.0.0, >= 1.0.0, > 1.0.0": "> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, <= 1.0.0, < 1.0.0, != 1.0.0",
	} {
		c := must.Get(ParseConstraints(given))(t, given)
		must.Equal(t, c.String(), canonical, given)
		must.Equal(t, c.IsEmpty(), canonical == "", given)
	}
}

func TestParseConstraints_Refuses(t *testing.T) {
	for reason, all := range map[string][]string{
		"three numbers":      {"a", "latest", ">= a", "> = 1"},
		"no version":         {">=", "> "},
		`begin with "v"`:     {"v1.0.0", ">= v1.0.0"},
		"too many numbers":   {"1.0.0.0", "~> 1.0.0.0"},
		"wildcards":          {"*", ">= *", "1.*", "~> 1.x", "1.2.3.*"},
		"at most one space":  {">=   1.0.0", ">=\t1.0.0"},
		`operator "!"`:       {"! 1"},
		`operator "=="`:      {"== 1"},
		`operator "<>"`:      {"<> 1"},
		`operator "~"`:       {"~ 1"},
		`operator "^"`:       {"^1.0"},
		`"<=" is one`:        {"=< 1"},
		`">=" is one`:        {"=> 1"},
		"comma is missing":   {"> 1.0 < 2.0", "1.0.0 2.0.0", "1.0.0 - 2.0.0", "1.0.0 || 2.0.0", ">= 1.0.0beta", "1.0.0_a", "1.0.0-\x00", "1.-beta"},
		"between two commas": {",", ",1.0.0", "1.0.0,,2.0.0", "1.0.0,,"},
		"too large":          {"~> 18446744073709551616"},
	} {
		for _, given := range all {
			must.Contain(t, must.ErrorOf(ParseConstraints(given)), reason, given)
		}
	}
}

// Terraform 1.11.4 selects the same version from a mirror with the same versions.
func TestNewest_Allowed(t *testing.T) {
	var versions []Version
	for text := range strings.FieldsSeq(`0.0.0 0.0.0-a 0.1.0 0.2.0 0.2.5 1.0.0 1.0.1 1.2.0-beta1 1.2.0 1.2.3-rc1
		1.2.3 1.3.0-alpha 1.9.9 2.0.0-alpha 2.0.0 2.0.0+b1 2.1.0-rc.1 3.0.0+x`) {
		versions = append(versions, MustParseVersion(text))
	}
	for constraints, newest := range map[string]string{
		"":               "3.0.0+x",
		"1":              "1.0.0",
		"= 1.2":          "1.2.0",
		"~> 1":           "1.9.9",
		"~> 1.2":         "1.9.9",
		"~> 1.2.0":       "1.2.3",
		"~> 0":           "0.2.5",
		"~> 0.2":         "0.2.5",
		"~> 0.2.0":       "0.2.5",
		"~> 1.2.0-beta1": "1.2.3",
		"> 2.0.0":        "3.0.0+x",
		"< 2":            "1.9.9",
		"<= 1.2.3":       "1.2.3",
		"<= 1.2.3+x":     "1.2.3",
		"< 2.0.0-alpha":  "1.9.9",
		"< 0.1":          "", // 0.0.0 is never allowed
		"0.0.0":          "",
		"0.0.0-a":        "0.0.0-a",

		">= 1.2.0-beta1, < 1.2.0":     "", // a range never means a prerelease
		"1.2.0-beta1":                 "1.2.0-beta1",
		"1.2.0-beta1, >= 1.0":         "1.2.0-beta1",
		"1.2.0-beta1, >= 1.2":         "",
		"1.2.0-beta1, ~> 1.1":         "1.2.0-beta1",
		"2.0.0-alpha, ~> 1.1":         "2.0.0-alpha", // comes before 2.0.0
		"1.3.0-alpha, ~> 1.2.0":       "1.3.0-alpha",
		"2.0.0-alpha, < 2":            "2.0.0-alpha",
		"1.2.0-beta1, != 1.2.0-beta1": "",
		"1.2.0-beta1, 1.2.3-rc1":      "",

		"2.0.0":              "2.0.0",
		"2.0.0+b1":           "2.0.0+b1",
		"~> 2.0.0, != 2.0.0": "2.0.0+b1",
		"> 2.0.0+b1, < 3":    "", // metadata has no rank
		"!= 3.0.0":           "3.0.0+x",
		"!= 3.0.0+x":         "2.0.0+b1",
		// Terraform selects either of 2.0.0 and 2.0.0+b1; tfdeps always selects the same one.
		">= 2.0.0, < 3":    "2.0.0+b1",
		">= 2.0.0+zz, < 3": "2.0.0+b1",
		"~> 2.0-alpha":     "2.0.0+b1",
	} {
		c := MustParseConstraints(constraints)
		for range 2 {
			got, ok := c.Newest(versions)
			if ok != (newest != "") || ok && got.String() != newest {
				t.Errorf("%q chose %q, %t; want %q", constraints, got, ok, newest)
			}
			slices.Reverse(versions) // the order doesn't matter
		}
	}
}

func TestConstraints_ExcludesEveryBuild(t *testing.T) {
	for constraints, excluded := range map[string]string{
		"!= 1.0.0":            "1.0.0 1.0.0+x 1.0.0+y.1",
		"!= 1.0.0+x":          "1.0.0 1.0.0+x 1.0.0+y.1",
		">= 1.0.1, != 1.0.0":  "1.0.0 1.0.0+x 1.0.0+y.1",
		"!= 1.0.0-a":          "1.0.0-a 1.0.0-a+x",
		"1.0.0+x, > 1.0.0":    "",
		"> 1.0.0, <= 1.0.0+x": "",
		"":                    "",
	} {
		var found []string
		for text := range strings.FieldsSeq("1.0.0 1.0.0+x 1.0.0+y.1 1.0.0-a 1.0.0-a+x 1.0.1 1.0.1+x") {
			if MustParseConstraints(constraints).Excludes(MustParseVersion(text)) {
				found = append(found, text)
			}
		}
		must.Equal(t, strings.Join(found, " "), excluded, constraints)
	}
}

func TestConstraints_SeriesOfTheLargestNumberHasNoEnd(t *testing.T) {
	const most = "18446744073709551615"
	for constraints, version := range map[string]string{
		"~> " + most + ".0":           most + ".5.0",
		"~> 1." + most + ".0":         "1." + most + ".7",
		"~> " + most + "." + most:     most + "." + most + ".1",
		"~> 2.0, ~> 2." + most + ".1": "2." + most + "." + most,
	} {
		if !MustParseConstraints(constraints).Allows(MustParseVersion(version)) {
			t.Errorf("%q doesn't allow %s", constraints, version)
		}
	}
	if MustParseConstraints("~> 1." + most + ".1").Allows(MustParseVersion("2.0.0")) {
		t.Error("the series 1.x reaches into 2.x")
	}
}

func TestAnd_KeepsItsOperands(t *testing.T) {
	a, b := MustParseConstraints("~> 1.2"), MustParseConstraints("!= 1.5, >= 1")
	both := a.And(b, Constraints{})
	must.Equal(t, both.String(), ">= 1.0.0, ~> 1.2, != 1.5.0")
	if a.String() != "~> 1.2" || b.String() != ">= 1.0.0, != 1.5.0" {
		t.Errorf("the operands became %q and %q", a, b)
	}
	must.DeepEqual(t, both, b.And(a), "the order of operands matters")
	if (Constraints{}).And().String() != "" {
		t.Error("nothing and nothing is something")
	}
}

func FuzzParseConstraints(f *testing.F) {
	for _, seed := range []string{"", ">= 1.2, < 2", "~> 1.2-beta", "~>1.2.3+x,!=1.2.5", "1.0.0,", "=> 1", "1.x", "~> 18446744073709551615.0", "\u00a01", ",,"} {
		f.Add(seed, "1.2.3")
	}
	f.Fuzz(func(t *testing.T, given, version string) {
		c, err := ParseConstraints(given)
		if err != nil {
			return
		}
		again, err := ParseConstraints(c.String())
		if err != nil || again.String() != c.String() || !reflect.DeepEqual(again, c) {
			t.Errorf("%q = %q is read back as %q (%v)", given, c, again, err)
		}
		if v, err := ParseVersion(version); err == nil && c.Allows(v) != again.Allows(v) {
			t.Errorf("%q and %q differ on %s", c, again, v)
		}
	})
}
