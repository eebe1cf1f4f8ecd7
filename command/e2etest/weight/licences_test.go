package weight

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// allowedLicences are those under which the program may be passed on as it is, each with words that
// no other licence has. Without a row here a module can't be linked.
var allowedLicences = map[string]string{
	"Apache-2.0": `Apache License\s+Version 2\.0`,
	"MPL-2.0":    `Mozilla Public License,? [Vv]ersion 2\.0`,
	"MIT":        `Permission is hereby granted, free of charge, to any person obtaining a copy`,
	"BSD":        `Redistribution and use in source and binary forms, with or without`,
	"Unlicense":  `This is free and unencumbered software released into the public domain`,
}

// docsLicensed is a module that has its README and CONTRIBUTING.md, of which nothing is linked,
// under a licence of their own in LICENSE.docs.
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
