package weight

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func TestMain(m *testing.M) { harness.Main(m) }

// newRegistry starts a registry, which leads programs to it as tf.example.com, with providers p0, p1 and so on. What makes the archive with the
// executable of a name may be nil.
func newRegistry(t *testing.T, providers int, archive func(name string, i int) []byte) (registry *providertest.Registry, env []string) {
	t.Helper()
	registry = harness.Start(t, providertest.NewRegistry, providertest.Options{})
	for i := range providers {
		spec := providertest.PackageSpec{Namespace: "acme", Type: fmt.Sprint("p", i), Version: "1.0.0"}
		if archive != nil {
			spec.Archive = archive("terraform-provider-"+spec.Type, i)
		}
		registry.Add(spec)
	}
	return registry, harness.Env(t, append(harness.Redirect(t, registry, "tf.example.com"), "TFDEPS_TERRAFORM_VERSION=1.15.9")...)
}

// requiring is a configuration that requires so many of them.
func requiring(providers int) string {
	config := ""
	for i := range providers {
		config += fmt.Sprintf("    p%d = { source = \"tf.example.com/acme/p%[1]d\" }\n", i)
	}
	return "terraform {\n  required_providers {\n" + config + "  }\n}\n"
}

// Package initialization may take 5 ms. A time can't be tested on a busy machine, but
// allocations can be: the time is spent on compiling regular expressions and filling tables, in
// proportion to their allocations. 905,000 bytes take 2.6 ms at best and 3.5 ms in the median of
// 60 runs, on two cores with twenty processes waiting for them. The regular expressions of the
// client of OCI registries add 222,000 bytes and 0.2 to 0.5 ms: so the budget of bytes stands for
// 4 ms. GODEBUG=inittrace=1 shows the clock of each package.
//
// The budgets of the program. Each is a little above the present value, so that growth is a
// decision: CONTRIBUTING.md has the purpose and the cost of each module.
const (
	maxPackages   = 610        // linked, those of the standard library included; 594
	maxBytes      = 27_100_000 // of the stripped program; 26.92 million
	maxInitBytes  = 1_060_000  // allocated before main; 1,000,000
	maxInitAllocs = 9_100      // before main; 8,700
	maxOwnBytes   = 16_000     // of those, by our own packages; 12,800
	ownPackages   = "github.com/tfdeps/tfdeps/"
)

// heavyModules are dependencies that the program once had for two kinds of module sources, and for metrics. None may
// come back, also not indirectly.
var heavyModules = []string{"google.golang.org/grpc", "google.golang.org/api", "google.golang.org/genproto", "go.opentelemetry.io/", "github.com/prometheus/", "cloud.google.com/go"}

// lightModules begin like these, and are none of them.
var lightModules = []string{"cloud.google.com/go/compute/metadata"}

func TestProgram_LinksFewPackages(t *testing.T) {
	t.Parallel()
	out, err := harness.GoCommand("list", "-C", harness.Path(t), "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v%s", err, harness.StderrOf(err))
	}
	packages := strings.Fields(string(out))
	t.Logf("%d packages", len(packages))
	if len(packages) > maxPackages {
		t.Errorf("the program is linked from %d packages, want at most %d", len(packages), maxPackages)
	}
}

func TestProgram_IsSmall(t *testing.T) {
	t.Parallel()
	info := must.Get(os.Stat(harness.Tfdeps(t)))(t)
	t.Logf("%d bytes", info.Size())
	most := int64(maxBytes)
	if runtime.GOOS == "windows" {
		most += most / 50
	}
	if info.Size() > most {
		t.Errorf("the stripped program has %d bytes, want at most %d", info.Size(), most)
	}
}

func TestProgram_DoesLittleBeforeMain(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(harness.Tfdeps(t), "version")
	cmd.Env = append(harness.Env(t), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	must.Succeed(t, cmd.Run(), &stderr)
	inits := must.Get(readInits(&stderr))(t)
	var all, own initCost
	for name, cost := range inits {
		all = all.plus(cost)
		if strings.HasPrefix(name, ownPackages) {
			own = own.plus(cost)
		}
	}
	t.Logf("%d packages, %d bytes in %d allocations; our own: %d bytes", len(inits), all.bytes, all.allocs, own.bytes)
	if all.bytes > maxInitBytes || all.allocs > maxInitAllocs || own.bytes > maxOwnBytes {
		t.Errorf("before main %d bytes are allocated in %d allocations, want at most %d and %d; our own packages allocate %d, want at most %d. The most expensive:\n%s",
			all.bytes, all.allocs, maxInitBytes, maxInitAllocs, own.bytes, maxOwnBytes, mostExpensive(inits, 20))
	}
}

// initCost is what a package does before main.
type initCost struct{ bytes, allocs int }

func (c initCost) plus(other initCost) initCost {
	return initCost{c.bytes + other.bytes, c.allocs + other.allocs}
}

// readInits reads what GODEBUG=inittrace=1 prints, by package: "init NAME @0.1 ms, 0.2 ms clock, 300 bytes, 4 allocs".
func readInits(r *bytes.Buffer) (map[string]initCost, error) {
	inits := map[string]initCost{}
	for scanner := bufio.NewScanner(r); scanner.Scan(); {
		var name string
		var at, took float64
		var cost initCost
		if _, err := fmt.Sscanf(scanner.Text(), "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &took, &cost.bytes, &cost.allocs); err == nil {
			inits[name] = cost
		}
	}
	if len(inits) == 0 {
		return nil, fmt.Errorf("found no line of GODEBUG=inittrace=1")
	}
	return inits, nil
}

func mostExpensive(inits map[string]initCost, n int) string {
	names := slices.SortedFunc(maps.Keys(inits), func(a, b string) int { return inits[b].bytes - inits[a].bytes })
	var text strings.Builder
	for _, name := range names[:min(n, len(names))] {
		fmt.Fprintf(&text, "%8d bytes %5d allocations  %s\n", inits[name].bytes, inits[name].allocs, name)
	}
	return text.String()
}

func TestGoMod_HasNoHeavyModule(t *testing.T) {
	t.Parallel()
	src := must.Get(os.ReadFile(harness.Path(t, "go.mod")))(t)
	mod := must.Get(modfile.Parse("go.mod", src, nil))(t)
	for _, req := range mod.Require {
		if isHeavy(req.Mod.Path) {
			t.Errorf("go.mod has %s: whoever imports any package of ours gets it, too", req.Mod)
		}
	}
}

func isHeavy(module string) bool {
	return !slices.Contains(lightModules, module) && slices.ContainsFunc(heavyModules, func(heavy string) bool {
		return module == heavy || strings.HasPrefix(module, strings.TrimSuffix(heavy, "/")+"/")
	})
}

func TestIsHeavy_KnowsThemByTheirBeginning(t *testing.T) {
	t.Parallel()
	for module, want := range map[string]bool{
		"google.golang.org/grpc": true, "go.opentelemetry.io/otel": true, "cloud.google.com/go/storage": true, "cloud.google.com/go": true,
		"google.golang.org/genproto/googleapis/api": true, "cloud.google.com/go/compute/metadata": false, "golang.org/x/oauth2": false,
	} {
		must.Equal(t, isHeavy(module), want, !want)
	}
}

// TestInit_KeepsOutlinesOfLargeConfigurations runs init twice with a module of 30 kB: the second run prints the same with the cached outline, which has
// no text of the configuration. TestOutlines_ChangeNothing damages it.
func TestInit_KeepsOutlinesOfLargeConfigurations(t *testing.T) {
	t.Parallel()
	dir := harness.WorkDir(t, "module \"m\" {\n  source = \"./m\"\n}\n")
	state := filepath.Join(t.TempDir(), "state")
	env := harness.Env(t, "TFDEPS_TERRAFORM_VERSION=1.15.9", "XDG_STATE_HOME="+state, "LocalAppData="+state)
	var module strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&module, "output \"o%d\" {\n  value = %[1]d\n}\n", i)
	}
	must.Write(t, filepath.Join(dir, "m", "main.tf"), module.String())
	init := func() string {
		before, _, _ := strings.Cut(harness.Run(t, dir, env, harness.Tfdeps(t), "init", "-no-color"), " module in ") // so many milliseconds
		return before
	}
	init()
	again := init()
	below := "tfdeps"
	if runtime.GOOS == "windows" {
		below = filepath.Join(below, "state")
	}
	kept := must.Get(filepath.Glob(filepath.Join(state, below, "documents", "*")))(t)
	must.Len(t, kept, 1)
	content := harness.ReadText(t, kept[0])
	must.NotContain(t, content, "o7")
	must.Equal(t, init(), again)
}

// allowedLicences are the licences under which the program may be distributed, each with words that
// no other licence has. A module with another licence can't be linked.
var allowedLicences = map[string]string{
	"Apache-2.0": `Apache License\s+Version 2\.0`,
	"MPL-2.0":    `Mozilla Public License,? [Vv]ersion 2\.0`,
	"MIT":        `Permission is hereby granted, free of charge, to any person obtaining a copy`,
	"BSD":        `Redistribution and use in source and binary forms, with or without`,
	"0BSD":       `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted\.`,
	"Unlicense":  `This is free and unencumbered software released into the public domain`,
}

// docsLicensed is a module whose README and CONTRIBUTING.md, which aren't linked, are
// under a separate licence in LICENSE.docs.
const docsLicensed = "github.com/opencontainers/go-digest"

// licenceOf names the licence of a text; "" if it is none of those that are allowed.
func licenceOf(text string) string {
	if strings.Contains(text, "Business Source License") {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(allowedLicences)) {
		if regexp.MustCompile(allowedLicences[name]).MatchString(strings.Join(strings.Fields(text), " ")) {
			return name
		}
	}
	return ""
}

func TestLicences_OfAllThatIsLinkedAreAllowed(t *testing.T) {
	t.Parallel()
	out, err := harness.GoCommand("list", "-C", harness.Path(t), "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v%s", err, harness.StderrOf(err))
	}
	found := map[string]int{}
	modules := slices.Compact(slices.Sorted(strings.Lines(string(out))))
	for _, line := range modules {
		module, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if module == "" {
			continue
		}
		entries := must.Get(os.ReadDir(dir))(t)
		licences := 0
		for _, e := range entries {
			name := strings.ToUpper(e.Name())
			if !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && name != "UNLICENSE" && !strings.HasPrefix(name, "COPYING") {
				continue
			}
			if module == docsLicensed && e.Name() == "LICENSE.docs" {
				continue
			}
			text := must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t)
			licence := licenceOf(string(text))
			if licence == "" {
				t.Errorf("%s has a licence in %s that isn't allowed: %.80q", module, e.Name(), text)
			}
			found[licence]++
			licences++
		}
		if licences == 0 {
			t.Errorf("%s has no licence in %s", module, dir)
		}
	}
	t.Logf("%d modules: %v", len(modules), found)
}

func TestLicenceOf_KnowsWhatIsAllowedOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0": "Apache-2.0", "": "", "GNU GENERAL PUBLIC LICENSE Version 3": "",
		"Business Source License 1.1 ... Mozilla Public License, version 2.0": "", "All rights reserved.": "",
	} {
		must.Equal(t, licenceOf(text), want, text)
	}
}
