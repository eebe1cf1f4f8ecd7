package getproviders

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// The canonical texts are those that Terraform 1.11.4 printed for these.
func TestParseVersion(t *testing.T) {
	for given, canonical := range map[string]string{
		"1.0.0":                    "1.0.0",
		"1":                        "1.0.0",
		"1.0":                      "1.0.0",
		"1.":                       "1.0.0",
		"01.00.0":                  "1.0.0",
		"0.0.0":                    "0.0.0",
		"18446744073709551615.0.0": "18446744073709551615.0.0",
		"1.0.0-beta":               "1.0.0-beta",
		"1.0-beta":                 "1.0.0-beta",
		"1-a":                      "1.0.0-a",
		"1.0.0-BETA":               "1.0.0-BETA",
		"1.0.0-beta-x":             "1.0.0-beta-x",
		"1.0.0-1.02":               "1.0.0-1.02",
		"1.0.0-a..b":               "1.0.0-a..b",
		"1.0.0--":                  "1.0.0--",
		"1.0.0-.":                  "1.0.0-.",
		"1.0.0-":                   "1.0.0",
		"1.0.0-x":                  "1.0.0-x",
		"1.0.0+b1":                 "1.0.0+b1",
		"1.2+a":                    "1.2.0+a",
		"1.0.0+":                   "1.0.0",
		"1.0.0-a+b":                "1.0.0-a+b",
		"1.0.0+a-b":                "1.0.0+a-b",
		"1.0.0-a.+b":               "1.0.0-a.+b",
	} {
		must.Equal(t, must.Get(ParseVersion(given))(t).String(), canonical, given, canonical)
	}
}

func TestParseVersion_Refuses(t *testing.T) {
	for reason, all := range map[string][]string{
		"no version":       {""},
		"three numbers":    {"a", ".1", "-1.0.0", "+1.0.0", "٣.0.0"},
		`begin with "v"`:   {"v1.0.0", "V1.0.0"},
		"too many numbers": {"1.0.0.0"},
		"wildcards":        {"*", "1.x", "1.X", "1.0.*"},
		"space":            {" 1.0.0", "1.0.0 ", "1.0.0\t", "1.0.0\u00a0"},
		"operator":         {">=1.0.0", "= 1.0.0", "~> 1.0.0"},
		"list":             {"1.0.0,", "1.0.0,2.0.0"},
		`".0"`:             {"1..0"},
		`" .0"`:            {"1 .0"},
		`"-beta"`:          {"1.-beta"},
		`"beta"`:           {"1.0.0beta"},
		`"_b"`:             {"1.0.0-a_b"},
		`"é"`:              {"1.0.0-é"},
		`"*"`:              {"1.0.0-*"},
		`"+b"`:             {"1.0.0+a+b"},
		`"/.."`:            {"1.0.0/.."},
		"too large":        {"18446744073709551616.0.0", "0." + strings.Repeat("9", 1000)},
	} {
		for _, given := range all {
			v, err := ParseVersion(given)
			must.Contain(t, err, reason, given)
			must.Equal(t, v, Version{}, given)
		}
	}
}

// Terraform 1.11.4 wrote constraints with these boundaries into the canonical text in this order.
func TestVersion_Order(t *testing.T) {
	sorted := strings.Fields(`
		0.0.0 0.9.9 0.10.0
		1.0.0-. 1.0.0-.a 1.0.0-.. 1.0.0-1.1 1.0.0-a. 1.0.0-a.b
		1.0.0 1.0.0+9 1.0.0+10 1.0.0+A 1.0.0+a 1.0.0+b 1.0.0+1.1 1.0.0+a.b
		1.0.1-1 1.0.1-2 1.0.1-01 1.0.1-99999999999999999999999 1.0.1-- 1.0.1-a 1.0.1-a-b
		1.1.0-1 1.1.0-9 1.1.0-10 1.1.0-A 1.1.0-a 1.1.0-b 1.1.0-1.1 1.1.0-a.b.c
		1.2.0-alpha 1.2.0-beta 1.2.0-alpha.1 1.2.0
		2.0.0`)
	// ".." has more dots than ".a", and 1.0.1-01 is a longer number than 2.
	versions := make([]Version, len(sorted))
	for i, text := range sorted {
		versions[i] = MustParseVersion(text)
	}
	for i, a := range versions {
		for j, b := range versions {
			want := max(-1, min(1, i-j))
			must.Equal(t, a.Compare(b), want, a, b)
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, seed := range []string{"1.2.3", "1.0.0-a..b+c", "v1", "1.", "18446744073709551616", "1.0.0-", "*", "1.0.0-1.02"} {
		f.Add(seed, "1.0.0-beta.1")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		va, errA := ParseVersion(a)
		vb, errB := ParseVersion(b)
		if errA != nil || errB != nil {
			return
		}
		must.Equal(t, must.Get(ParseVersion(va.String()))(t), va)
		if strings.ContainsAny(va.String(), "/\\") {
			t.Errorf("%q is no name for a directory", va)
		}
		must.Equal(t, va.Compare(vb), -vb.Compare(va))
		must.Equal(t, va.Compare(vb) == 0, va == vb)
	})
}
