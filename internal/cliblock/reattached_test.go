package cliblock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestReattached(t *testing.T) {
	for text, want := range map[string]string{
		"":     "[]",
		"{}":   "[]",
		"null": "[]",
		`{"b/y": {}, "Example.com/a/x": {"Protocol": "grpc", "Addr": {"Network": "unix"}}, "b/x": 5, "B/Y": null}`: "[example.com/a/x registry.terraform.io/b/x registry.terraform.io/b/y]",
		` {"random": []} `: "[registry.terraform.io/hashicorp/random]",
	} {
		must.Equal(t, fmt.Sprint(must.Get(Reattached(text, getproviders.Terraform("1.15.9")))(t)), want, text)
	}
	for text, want := range map[string]string{
		" ":                                     "invalid format for TF_REATTACH_PROVIDERS",
		"garbage":                               "invalid format for TF_REATTACH_PROVIDERS",
		"[]":                                    "invalid format for TF_REATTACH_PROVIDERS",
		`{"a/b": {}} x`:                         "invalid format for TF_REATTACH_PROVIDERS",
		`{"a/b/c/d": {}}`:                       `invalid provider address "a/b/c/d" in TF_REATTACH_PROVIDERS`,
		`{"": 1}`:                               `invalid provider address ""`,
		`{"z/z/z/z": 1, "y//": 1, "x/x/x/": 1}`: `invalid provider address "x/x/x/"`,
	} {
		if got, err := Reattached(text, getproviders.Terraform("1.15.9")); err == nil || got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
}

func FuzzReattached(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"a/b": {"Pid": 1}}`, `{"a": 1, "a": 2}`, "[", `{"\ud800/x": null}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		providers, err := Reattached(text, getproviders.Terraform("1.15.9"))
		for i, p := range providers {
			if err != nil || p == (getproviders.Provider{}) || i > 0 && providers[i-1].Compare(p) >= 0 {
				t.Fatalf("got %v, %v", providers, err)
			}
		}
	})
}
