package cli

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/spelling"
	"github.com/tfdeps/tfdeps/providercache"
)

// Progress is the row of -progress, for commands that download or take time.
func Progress(mode *view.Progress) Flag {
	return Flag{
		Name: "progress", Sep: "=", Variable: "TFDEPS_PROGRESS", Meaning: "how to show progress",
		Value: Parsed(mode, view.ParseProgress),
		Help:  "How to show progress",
		Choices: [][2]string{
			{"auto", "as tty in a terminal, unless it can't draw (TERM=dumb) or CI is set; otherwise as plain, but on stdout (this is the default);"},
			{"tty", "a bar for each package that takes a while, and a total, on stderr;"},
			{"plain", "a line at the start and the end of each download of 1 MB or more, and one for all downloads every ten seconds, on stderr;"},
			{"none", "no progress."},
		},
	}
}

// NoColor is the row of -no-color, which every command takes.
func NoColor() Flag {
	return Flag{Name: "no-color", Help: "Print neither colours nor boxes", More: "NO_COLOR leaves out colours only."}
}

// noteDiagnostics is the Note of options about how problems are shown.
const noteDiagnostics = "OpenTofu's options that are accepted without effect"

// Showing returns the options of all commands of Terraform and of OpenTofu about how problems are shown.
func Showing() Flags {
	return Flags{
		NoColor(),
		{Name: "concise", Value: AnyBool(), Note: noteDiagnostics},
		Option("consolidate-warnings", AnyBool(), "Show similar warnings about files as one, which is the default", "=false shows each."),
		Option("consolidate-errors", AnyBool(), "Show similar errors about files as one, too"),
		{Name: "deprecation", Value: Func(func(level string) error {
			if !strings.HasPrefix(level, "module:") {
				return errors.New("it has to be module:all, module:local or module:none")
			}
			return nil
		}), Note: noteDiagnostics},
	}
}

// With returns the row with another text for its last choice.
func (f Flag) With(last string) Flag {
	f.Choices = slices.Clone(f.Choices)
	f.Choices[len(f.Choices)-1][1] = last
	return f
}

// HashesVariable is the variable of the option -hashes.
const HashesVariable = "TFDEPS_HASHES"

// HashChoices are the values of -hashes; listed describes the second one for
// a command.
func HashChoices(listed string) [][2]string {
	return [][2]string{
		{"auto", "signed hashes, and those of packages that were read; for OpenTofu also those that its registry lists for all platforms beside the signed checksums (this is the default);"},
		{"listed", listed},
		{"read", "none: every package is read."},
	}
}

// ParseHashPolicy parses a value of -hashes: which hashes to trust for packages that
// aren't read.
func ParseHashPolicy(given string) (providercache.HashPolicy, error) {
	policies := map[string]providercache.HashPolicy{"auto": providercache.TrustRegistryHashes, "listed": providercache.TrustMirrorHashes, "read": providercache.ComputeHashes}
	if policy, ok := policies[given]; ok {
		return policy, nil
	}
	return 0, errors.New(`it has to be "auto" (trust what is signed, and OpenTofu's registry for OpenTofu), "listed" (trust registries and mirrors) or "read" (trust none)`)
}

// ReadHashPolicy is ParseHashPolicy for commands that report all problems at once.
func ReadHashPolicy(given string) (providercache.HashPolicy, problem.List) {
	policy, err := ParseHashPolicy(given)
	if err != nil {
		return policy, problem.Fail("invalid_option", "Invalid value of -hashes",
			"The value of -hashes is %q. %s", given, problem.Sentence(err))
	}
	return policy, nil
}

// Platforms is the value of -platform, which may be given more than once. Invalid platforms are added to problems; "all" sets
// *all, unless all is nil.
func Platforms(p *[]getproviders.Platform, all *bool, problems *problem.List) Value {
	return Func(func(given string) error {
		if given == "all" && all != nil {
			*all = true
			return nil
		}
		plat, err := getproviders.ParsePlatform(given)
		if err != nil {
			*problems = append(*problems, problem.Errorf("invalid_option", "Invalid target platform",
				"The string %q given in the -platform option is not a valid target platform: must be two words separated by an underscore.", given))
		}
		*p = append(*p, plat)
		return nil
	})
}

// WantsJSON reports whether arguments that can't be parsed have -json.
func WantsJSON(args []string) bool {
	wants := false
	for _, arg := range args {
		switch arg {
		case "-json", "--json", "-json=true", "--json=true":
			wants = true
		case "-json=false", "--json=false":
			wants = false
		}
	}
	return wants
}

// suggestion returns a line with the option that was probably meant by an unknown one, or "" if none is similar.
func suggestion(set *flag.FlagSet, given string) string {
	if given == "chdir" || given == "passthrough" {
		return "It is a global option: write it before the command: -" + given + map[string]string{"chdir": "=DIR"}[given] + " COMMAND"
	}
	var names []string
	set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if meant := spelling.Closest(given, names); meant != "" {
		return "Did you mean -" + meant + "?"
	}
	return ""
}

// ages are units of time in addition to Go's.
var ages = map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// ParseAge reads "30d", "2w", "36h" or "90m".
func ParseAge(given string) (time.Duration, error) {
	for suffix, unit := range ages {
		number, ok := strings.CutSuffix(given, suffix)
		if n, err := strconv.ParseUint(number, 10, 32); ok && err == nil && n > 0 && n <= uint64(math.MaxInt64/unit) {
			return time.Duration(n) * unit, nil
		}
	}
	if age, err := time.ParseDuration(given); err == nil && age > 0 {
		return age, nil
	}
	return 0, fmt.Errorf("%q is not a duration: write it as 30d, 2w or 12h", given)
}

// sizes are units of bytes. Without an "i" they are powers of ten.
var sizes = []struct {
	suffix string
	unit   float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"b", 1},
}

// ParseLimit is ParseBytes for an option without a default.
func ParseLimit(given string) (*int64, error) {
	n, err := ParseBytes(given)
	return &n, err
}

// ParseBytes reads "20GB", "1.5GiB", "500M" or "100B". A number without a unit is refused, because
// the user may mean another unit than bytes; 0 needs none.
func ParseBytes(given string) (int64, error) {
	if given == "0" {
		return 0, nil
	}
	if _, err := strconv.ParseFloat(given, 64); err == nil {
		return 0, fmt.Errorf("%q has no unit: write %[1]sGB, %[1]sMB or %[1]sB", given)
	}
	for _, size := range sizes {
		number, ok := strings.CutSuffix(strings.ToLower(given), size.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if bytes := n * size.unit; err == nil && n >= 0 && bytes < math.MaxInt64 {
			return int64(bytes), nil
		}
		break
	}
	return 0, fmt.Errorf("%q is not a size: write it as 20GB, 500MB or 1.5GiB", given)
}
