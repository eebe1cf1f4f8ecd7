package cause

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// requirements makes one requirement of each text, each on a line of its own.
func requirements(texts ...string) []getproviders.Requirement {
	all := make([]getproviders.Requirement, len(texts))
	for i, text := range texts {
		all[i] = getproviders.Requirement{Constraints: getproviders.MustParseConstraints(text), Pos: getproviders.Pos{File: "main.tf", Line: i + 1}}
	}
	return all
}

func versions(texts ...string) []getproviders.Version {
	all := make([]getproviders.Version, len(texts))
	for i, text := range texts {
		all[i] = getproviders.MustParseVersion(text)
	}
	return all
}

// lines returns the line numbers of bounds.
func lines(bounds []ConstraintBound) []int {
	all := []int{}
	for _, b := range bounds {
		all = append(all, b.Pos.Line)
	}
	return all
}

func TestFindConflict(t *testing.T) {
	some := versions("1.0.0", "1.4.0", "2.0.0", "2.1.0", "3.0.0", "4.0.0-beta1")
	for _, c := range []struct {
		name     string
		required []getproviders.Requirement
		versions []getproviders.Version
		newest   string
		smallest string // their lines
	}{
		{"no conflict", requirements(">= 1.0", "~> 2.0"), some, "[3.0.0 2.1.0]", "[]"},
		{"nothing required", requirements(), some, "[]", "[]"},
		{"one that nothing satisfies", requirements(">= 1.0", "~> 9.0", "< 3.0"), some, "[3.0.0 0.0.0 2.1.0]", "[2]"},
		{"one that contradicts itself", requirements("> 2.0, < 2.0"), some, "[0.0.0]", "[1]"},
		{"two among many", requirements("", ">= 1.0", "~> 2.0", "!= 3.0.0", "< 2.0"), some, "[3.0.0 3.0.0 2.1.0 2.1.0 1.4.0]", "[3 5]"},
		{"the first two of several pairs", requirements("< 1.4", "= 3.0.0", "~> 2.0"), some, "[1.0.0 3.0.0 2.1.0]", "[1 2]"},
		{"the same constraint twice", requirements("~> 2.0", "~> 2.0", "< 2.0", "< 2.0"), some, "[2.1.0 2.1.0 1.4.0 1.4.0]", "[1 3]"},
		{"three of which any two go together", requirements(">= 2.0", "<= 2.1", "!= 2.0.0, != 2.1.0"), some, "[3.0.0 2.1.0 3.0.0]", "[1 2 3]"},
		{"a gap in the versions", requirements("> 2.1", "< 3.0"), some, "[3.0.0 2.1.0]", "[1 2]"},
		{"a prerelease that is asked for and refused", requirements("4.0.0-beta1", ">= 1.0", "< 3.0"), some, "[4.0.0-beta1 3.0.0 2.1.0]", "[1 3]"},
		{"a prerelease that nobody asks for by name", requirements(">= 4.0.0-beta1", ">= 1.0"), some, "[0.0.0 3.0.0]", "[1]"},
		{"only prereleases", requirements(">= 1.0", "< 2.0"), versions("1.0.0-rc1"), "[0.0.0 0.0.0]", "[]"},
		{"no versions", requirements(">= 1.0", "< 1.0"), nil, "[0.0.0 0.0.0]", "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := FindConflict(c.required, c.versions)
			var newest []string
			for _, b := range got.Bounds {
				newest = append(newest, b.Newest.String())
			}
			must.Equal(t, fmt.Sprint(newest), c.newest)
			must.Equal(t, fmt.Sprint(lines(got.Minimal)), c.smallest)
		})
	}
}

// TestFindConflict_OfVeryManyRequirements has too many requirements to try all sets of them: the
// result may not be the smallest set, but each requirement in it is needed.
func TestFindConflict_OfVeryManyRequirements(t *testing.T) {
	var texts []string
	var all []getproviders.Version
	for i := range 64 {
		texts = append(texts, fmt.Sprintf("!= 1.%d.0", i), fmt.Sprintf("!= 1.%d.0, != 1.%d.0, != 1.%d.0", i, (i+17)%64, (i+31)%64))
		all = append(all, getproviders.MustParseVersion(fmt.Sprintf("1.%d.0", i)))
	}
	got := FindConflict(requirements(texts...), all).Minimal
	if len(got) == 0 {
		t.Fatal("no conflict was found")
	}
	checkConflict(t, got, all)
}

// TestFindConflict_IsMinimal compares with the result of trying all sets.
func TestFindConflict_IsMinimal(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	operators := []string{">= ", "> ", "< ", "<= ", "~> ", "!= ", ""}
	for range 2000 {
		var texts []string
		for range random.IntN(6) {
			texts = append(texts, fmt.Sprintf("%s%d.%d", operators[random.IntN(len(operators))], random.IntN(4), random.IntN(3)))
		}
		var all []getproviders.Version
		for range random.IntN(12) {
			all = append(all, getproviders.Version{Major: 1 + random.Uint64N(3), Minor: random.Uint64N(3)})
		}
		required := requirements(texts...)
		got, want := len(FindConflict(required, all).Minimal), smallestByTrying(required, all)
		if got != want {
			t.Fatalf("%q with %v: a conflict of %d, want %d", texts, all, got, want)
		}
		checkConflict(t, FindConflict(required, all).Minimal, all)
	}
}

// smallestByTrying returns the size of the smallest set that allows no version, or 0 if every set
// allows some.
func smallestByTrying(required []getproviders.Requirement, all []getproviders.Version) int {
	smallest := 0
	for set := 1; set < 1<<len(required) && len(all) > 0; set++ {
		var chosen []ConstraintBound
		for i, r := range required {
			if set&(1<<i) != 0 {
				chosen = append(chosen, ConstraintBound{Requirement: r})
			}
		}
		if !allowsAny(chosen, all) && (smallest == 0 || len(chosen) < smallest) {
			smallest = len(chosen)
		}
	}
	return smallest
}

func allowsAny(bounds []ConstraintBound, all []getproviders.Version) bool {
	var together getproviders.Constraints
	for _, b := range bounds {
		together = together.And(b.Constraints)
	}
	_, ok := together.Newest(all)
	return ok
}

// checkConflict checks that the bounds together allow no version, and without any one of them
// allow some.
func checkConflict(t *testing.T, bounds []ConstraintBound, all []getproviders.Version) {
	t.Helper()
	if len(bounds) > 0 && allowsAny(bounds, all) {
		t.Errorf("%v is no conflict", bounds)
	}
	for i := range bounds {
		if fewer := slices.Delete(slices.Clone(bounds), i, i+1); !allowsAny(fewer, all) {
			t.Errorf("%v is more than it takes: %v would do", bounds, fewer)
		}
	}
}

func ExampleFindConflict() {
	required := []getproviders.Requirement{
		{Constraints: getproviders.MustParseConstraints(">= 1.0"), Pos: getproviders.Pos{File: "main.tf", Line: 4}},
		{Constraints: getproviders.MustParseConstraints("~> 2.0"), Pos: getproviders.Pos{Module: "module.net", File: "net/main.tf", Line: 3}},
		{Constraints: getproviders.MustParseConstraints("< 1.5"), Pos: getproviders.Pos{Module: "module.dns", File: "dns/main.tf", Line: 3}},
	}
	available := versions("1.0.0", "1.4.2", "2.3.0")
	for _, b := range FindConflict(required, available).Minimal {
		fmt.Println(strings.Join([]string{b.Pos.Module, b.Constraints.String(), b.Newest.String()}, " | "))
	}
	// Output:
	// module.net | ~> 2.0 | 2.3.0
	// module.dns | < 1.5.0 | 1.4.2
}
