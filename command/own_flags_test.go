package command

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

// helpOf is the help of a command with options of ours; "" is that of all.
var helpOf = map[string]string{
	"":          Usage,
	"init":      (&InitCommand{}).Help(),
	"get":       (&GetCommand{}).Help(),
	"providers": (&ProvidersCommand{}).Help(),
	"cache-add": cacheAddUsage,

	"providers-lock": providersLockUsage,
	"vendor":         vendorUsage,
}

// names finds an option or a variable as a word of its own.
func names(text, name string) bool {
	return regexp.MustCompile(`(^|[\s,"(])` + regexp.QuoteMeta(name) + `($|[\s,.=\[)"])`).MatchString(text)
}

func TestHelpNamesOwnFlagsAndVariables(t *testing.T) {
	seen := map[string]bool{}
	for _, own := range ownFlags {
		if !names(Usage, own.variable) {
			t.Errorf("the help doesn't name %s", own.variable)
		}
		if own.meaning == "" || seen[own.variable] || own.name != "" && seen[own.name] {
			t.Errorf("the row of %s has no meaning, or a name of another", own.variable)
		}
		seen[own.variable], seen[own.name] = true, true
		if own.name == "" {
			continue
		}
		if want := "TFDEPS_" + strings.ToUpper(strings.ReplaceAll(own.name, "-", "_")); own.variable != want {
			t.Errorf("the variable of -%s is %s, and should be %s", own.name, own.variable, want)
		}
		for _, command := range append(strings.Fields(own.commands), "")[:max(1, len(strings.Fields(own.commands)))] {
			if help, ok := helpOf[command]; ok && !names(help, "-"+own.name) {
				t.Errorf("the help of %q doesn't name -%s", command, own.name)
			}
		}
	}
}

// TestVariablesOfOursAreInTheTable reads the sources: whoever adds a variable
// has to say what it is, and to put it into the help.
func TestVariablesOfOursAreInTheTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	known := []string{passesVariable} // from us to ourselves
	for _, own := range ownFlags {
		known = append(known, own.variable)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, variable := range regexp.MustCompile(`TFDEPS_[A-Z_]*[A-Z]`).FindAllString(string(content), -1) {
			if !slices.Contains(known, variable) {
				t.Errorf("%s: %s is not in the table of own_flags.go", name, variable)
			}
		}
	}
}

// TestOptionsOfInitAreTheRealToolsOrInTheTable keeps the table complete: an
// option that is in the help of init is one of the real tool's, or has a row.
func TestOptionsOfInitAreTheRealToolsOrInTheTable(t *testing.T) {
	known := strings.Fields("backend backend-config cloud compact-warnings force-copy from-module get ignore-remote-version input json lock " +
		"lock-timeout lockfile migrate-state no-color plugin-dir reconfigure target test-directory upgrade var var-file")
	for _, own := range ownFlags {
		if slices.Contains(strings.Fields(own.commands), "init") {
			known = append(known, own.name)
		}
	}
	options := regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(initUsage, -1)
	if len(options) < 10 {
		t.Fatalf("the help of init has %d options", len(options))
	}
	for _, option := range options {
		if !slices.Contains(known, option[1]) {
			t.Errorf("the help of init has -%s, which neither the real tool nor the table has", option[1])
		}
	}
}

func TestVariablesStandForOptions(t *testing.T) {
	tests := []struct {
		name, args string
		env        Environment
		offline    bool
		link       string
		by         string // who set -offline
		wrong      string // what the error says
	}{
		{name: "nothing", by: ""},
		{name: "option", args: "-offline", offline: true, by: "-offline"},
		{name: "variable", env: Environment{"TFDEPS_OFFLINE=1"}, offline: true, by: "TFDEPS_OFFLINE"},
		{name: "true", env: Environment{"TFDEPS_OFFLINE=True"}, offline: true, by: "TFDEPS_OFFLINE"},
		{name: "off", env: Environment{"TFDEPS_OFFLINE=false"}, by: "TFDEPS_OFFLINE"},
		{name: "empty", env: Environment{"TFDEPS_OFFLINE="}},
		{name: "the option counts more", args: "-offline=false", env: Environment{"TFDEPS_OFFLINE=1"}, by: "-offline"},
		{name: "and its value isn't looked at", args: "-offline", env: Environment{"TFDEPS_OFFLINE=maybe"}, offline: true, by: "-offline"},
		{name: "text", env: Environment{"TFDEPS_LINK=copy"}, link: "copy"},
		{name: "neither on nor off", env: Environment{"TFDEPS_OFFLINE=yes"}, wrong: `TFDEPS_OFFLINE is "yes"`},
		{name: "of another command", env: Environment{"TFDEPS_FROZEN=yes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			flags := newFlags("x")
			offline, link := flags.Bool("offline", false, ""), flags.String("link", "", "")
			by, err := parseOptionsOrVariables(flags, strings.Fields(tt.args), tt.env)
			if tt.wrong != "" {
				if _, ok := errors.AsType[*usageError](err); !ok || !strings.Contains(err.Error(), tt.wrong) {
					t.Fatalf("the error is %v", err)
				}
				return
			}
			if err != nil || *offline != tt.offline || *link != tt.link || by["offline"] != tt.by {
				t.Errorf("got %t by %q and %q, error %v", *offline, by["offline"], *link, err)
			}
		})
	}
}

func TestFrozenNamesWhoSetIt(t *testing.T) {
	for _, tt := range []struct {
		args              string
		env               Environment
		readonly, offline string
	}{
		{"", nil, "", ""},
		{"-frozen", nil, "-frozen", "-frozen"},
		{"", Environment{"TFDEPS_FROZEN=1"}, "TFDEPS_FROZEN", "TFDEPS_FROZEN"},
		{"-lockfile=readonly", Environment{"TFDEPS_FROZEN=1"}, "-lockfile=readonly", "TFDEPS_FROZEN"},
		{"-frozen", Environment{"TFDEPS_OFFLINE=1"}, "-frozen", "TFDEPS_OFFLINE"},
		{"-frozen=false", Environment{"TFDEPS_FROZEN=1"}, "", ""},
		{"-offline=false", Environment{"TFDEPS_FROZEN=1"}, "TFDEPS_FROZEN", "TFDEPS_FROZEN"},
	} {
		opts, problems := parseInit(strings.Fields(tt.args), tt.env, nil)
		if problems.HasErrors() || opts.readonlyBy != tt.readonly || opts.offlineBy != tt.offline {
			t.Errorf("%s %v: got %q and %q, problems %v", tt.args, tt.env, opts.readonlyBy, opts.offlineBy, problems)
		}
		if opts.readonly != (tt.readonly != "") || opts.offline != (tt.offline != "") {
			t.Errorf("%s %v: readonly %t, offline %t", tt.args, tt.env, opts.readonly, opts.offline)
		}
	}
}

// TestOwnFlagsAreDefined: a row for a flag that no command has would be a
// promise that nobody keeps.
func TestOwnFlagsAreDefined(t *testing.T) {
	for _, own := range ownFlags {
		for command := range strings.FieldsSeq(own.commands) {
			var err error
			switch command {
			case "init":
				_, problems := parseInit([]string{"-" + own.name + "=0"}, nil, nil)
				for _, p := range problems {
					if strings.Contains(p.Detail, "not defined") {
						err = p
					}
				}
			case "get":
				_, err = parseGet([]string{"-" + own.name + "=0"}, nil)
			case "cache-add":
				_, err = parseCacheAdd([]string{"-" + own.name + "=0", "acme/aaa"}, nil, getproviders.Terraform(""))
			case "providers":
				_, err = parseProviders([]string{"-" + own.name + "=0"}, nil)
			case "providers-lock":
				_, err = parseLock([]string{"-" + own.name + "=0"}, nil)
			case "vendor":
				_, err = parseVendor([]string{"-" + own.name + "=0"}, nil)
			default:
				t.Errorf("there is no command %q", command)
			}
			if err != nil && !errors.Is(err, flag.ErrHelp) {
				t.Errorf("%s -%s: %v", command, own.name, err)
			}
		}
	}
}
