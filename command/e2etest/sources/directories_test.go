package sources

import (
	"cmp"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
)

// sourceExemptions are all cases of sourceCases in which the two programs may
// differ. "Difference N" is an entry of the list in
// docs/differences.md.
var sourceExemptions = map[string]harness.Exemption{
	"provider_installation blocks in two files": {Exit: true, Reason: "difference 6: Terraform goes on without what it doesn't understand"},
	"JSON, empty object for a method":           {Exit: true, Reason: "difference 14: to Terraform that is no method at all"},
	"no URL of an archive":                      {Tree: true, Reason: "difference 3: Terraform leaves directories"},
	"no executable":                             {Tree: true, Reason: "difference 3: Terraform leaves what it has unpacked"},
	"names in both cases":                       {Lock: true, Tree: true, Reason: "difference 19: Terraform unites the directories"},
	"what isn't quite a platform":               {Exit: true, Reason: "difference 19: Terraform takes it for a platform, and its version for the newest"},

	"mirror without the provider":     asksNobodyElse,
	"newest in the registry":          asksNobodyElse,
	"mirror that lacks what it lists": asksNobodyElse,
	"two network mirrors":             asksNobodyElse,

	"cached, but withdrawn from the network mirror": withdrawn,
	"cached, but withdrawn from the registry":       withdrawn,

	"base URL by http":             {Exit: true, Reason: "difference 16: Terraform wants https"},
	"provider host with a port":    {Exit: true, Reason: "difference 16: Terraform makes a broken URL of it"},
	"empty -plugin-dir":            {Exit: true, Reason: "difference 17: Terraform searches a directory without a name"},
	"working directory and -chdir": {Lock: true, Tree: true, Reason: "difference 17: Terraform looks where it was started"},
	"dev_overrides":                {Before: "1.15", Lock: true, Tree: true, Reason: "difference 25: 1.11 installs the provider all the same"},
	"dev_overrides, locked":        {Lock: true, Tree: true, Reason: "difference 25: 1.11 installs the provider all the same, 1.15 forgets its lock entry"},

	".netrc without the port": {Exit: true, Lock: true, Tree: true, Reason: "difference 70: Terraform sends the default login to a port that no entry names"},
}

// asksNobodyElse is an exemption that several cases need.
var asksNobodyElse = harness.Exemption{Exit: true, Reason: "difference 4: Terraform ends at a network mirror that lacks a version"}

// withdrawn is an exemption that several cases need.
var withdrawn = harness.Exemption{Exit: true, Reason: "difference 58: Terraform asks whether the version is still listed"}

// sourceCases returns all cases, with the fields that the cases of a subject share.
func sourceCases(t *testing.T) map[string]sourceCase {
	t.Helper()
	all := map[string]sourceCase{}
	for _, subject := range []struct {
		cases        map[string]sourceCase
		cli, mirrors string
		arrange      func(*sourceWorld)
	}{
		{directoryCases, fromA, "", nil}, {oddDirectoryCases, fromA, "", nil}, {oddAnswerCases(), fromMirror, "1.0.0", nil}, {networkMirrorCases, fromMirror, "1.0.0", nil},
		{patternCases, "", "", nil}, {impliedCases, "", "", nil}, {mixtureCases, "", "", nil}, {configFileCases, "", "", nil}, {hostCases, "", "", nil},
		{credentialsCases, "", "", guarded}, {unmanagedCases, "", "", nil},
	} {
		for name, c := range subject.cases {
			c.cli, c.mirrors = cmp.Or(c.cli, subject.cli), cmp.Or(c.mirrors, subject.mirrors)
			if c.arrange == nil {
				c.arrange = subject.arrange
			}
			if _, ok := all[name]; ok {
				t.Errorf("two cases are called %q", name)
			}
			all[name] = c
		}
	}
	for name, c := range cachedCases {
		all[name] = c.cachePackage()
	}
	return all
}

// What many cases say in the CLI configuration.
const (
	fromA          = `provider_installation { filesystem_mirror { path = "$ROOT/a" } }`
	fromAThenB     = `provider_installation { filesystem_mirror { path = "$ROOT/a" } filesystem_mirror { path = "$ROOT/b" } }`
	fromAOrOrigin  = `provider_installation { filesystem_mirror { path = "$ROOT/a" } direct {} }`
	fromMirror     = `provider_installation { network_mirror { url = "$MIRROR" } }`
	mirrorOrOrigin = `provider_installation { network_mirror { url = "$MIRROR" } direct {} }`
)

// The error of both if no source has the provider.
const notFound = "provider $WIDGET was not found in any of the search locations"

// The error of both for packages that don't match the lock file.
const notLocked = "package for $WIDGET 1.0.0 doesn't match any of the checksums previously recorded"

// directoryCases are about what a filesystem mirror may look like.
var directoryCases = map[string]sourceCase{
	"packed and unpacked": {
		packages: `
			a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip
			a/$WIDGET/1.0.0/$PLATFORM/`,
		installs: `a/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"newest of packed and unpacked": {
		packages: `
			a/$WIDGET/terraform-provider-widget_1.10.0_$PLATFORM.zip
			a/$WIDGET/1.9.0/$PLATFORM/`,
		installs: `a/$WIDGET/terraform-provider-widget_1.10.0_$PLATFORM.zip`,
	},
	"two providers": {
		needs: "$WIDGET\n$GADGET ~> 1.0",
		packages: `
			a/$WIDGET/1.0.0/$PLATFORM/
			a/$GADGET/2.0.0/$PLATFORM/
			a/$GADGET/terraform-provider-gadget_1.5.0_$PLATFORM.zip`,
		installs: `a/$GADGET/terraform-provider-gadget_1.5.0_$PLATFORM.zip a/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"only the other provider": {
		needs:    "$WIDGET\n$GADGET",
		packages: `a/$WIDGET/1.0.0/$PLATFORM/`,
		fails:    "$GADGET was not found in any of the search locations",
	},
	"directory is a link": {
		packages: `
			a -> b
			b/$WIDGET/1.0.0/$PLATFORM/
			b/$WIDGET/terraform-provider-widget_1.1.0_$PLATFORM.zip`,
		installs: `b/$WIDGET/terraform-provider-widget_1.1.0_$PLATFORM.zip`,
	},
	"a file before the directory": {
		cli:      fromAThenB,
		packages: "b/$WIDGET/1.0.0/$PLATFORM/",
		files:    files{"a": "no directory"},
		installs: "b/$WIDGET/1.0.0/$PLATFORM/",
	},
	"a file before the directory of -plugin-dir": {
		args:     "-plugin-dir=$ROOT/a -plugin-dir=$ROOT/b",
		packages: "b/$WIDGET/1.0.0/$PLATFORM/",
		files:    files{"a": "no directory"},
		installs: "b/$WIDGET/1.0.0/$PLATFORM/",
	},
	"a file before the registry": {
		cli:      fromAOrOrigin,
		files:    files{"a": "no directory"},
		installs: "registry/2.0.0",
	},
	"a link to a file before the directory": {
		cli:      fromAThenB,
		packages: "a -> c\nb/$WIDGET/1.0.0/$PLATFORM/",
		files:    files{"c": "no directory"},
		installs: "b/$WIDGET/1.0.0/$PLATFORM/",
	},
	"only a file": {
		files: files{"a": "no directory"},
		fails: notFound,
	},
	"host is a link": {
		packages: `
			a/tf.example.com -> ../b/tf.example.com
			b/$WIDGET/1.0.0/$PLATFORM/`,
		fails: notFound,
	},
	"type is a link": {
		packages: `
			a/$WIDGET -> ../../../b/$WIDGET
			b/$WIDGET/1.0.0/$PLATFORM/`,
		fails: notFound,
	},
	"version is a link": {
		packages: `
			a/$WIDGET/1.1.0 -> ../../../../b/$WIDGET/1.1.0
			a/$WIDGET/1.0.0/$PLATFORM/
			b/$WIDGET/1.1.0/$PLATFORM/`,
		installs: `a/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"platform is a link": {
		packages: `
			a/$WIDGET/1.0.0/$PLATFORM -> ../../../../../b/$WIDGET/1.0.0/$PLATFORM
			b/$WIDGET/1.0.0/$PLATFORM/`,
		installs: `b/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"archive is a link": {
		packages: `
			a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip -> $ROOT/b/widget.zip
			b/widget.zip`,
		files:    files{"b/widget.zip": string(packedFrom("terraform-provider-widget_1.zip"))},
		installs: "terraform-provider-widget_1.zip",
	},
	"names in both cases": {
		packages: `
			a/tf.example.com/ACME/widget/1.1.0/$PLATFORM/
			a/tf.example.com/acme/widget/1.0.0/$PLATFORM/`,
		installs: `a/tf.example.com/acme/widget/1.0.0/$PLATFORM/`,
	},
	"archive in upper case": {
		comes: `a/$WIDGET/Terraform-Provider-Widget_1.0.0_$PLATFORM.ZIP`,
	},
	"leading zeros": {
		packages: `
			a/$WIDGET/0.08.1/$PLATFORM/
			a/$WIDGET/terraform-provider-widget_0.7.01_$PLATFORM.zip`,
		installs: `a/$WIDGET/0.08.1/$PLATFORM/`,
	},
	"what isn't named like a part of a mirror": {
		packages: `
			a/$WIDGET/1.0.0/$PLATFORM/
			a/$WIDGET/v2.0.0/$PLATFORM/
			a/$WIDGET/2.0.0/new/
			a/$WIDGET/terraform-provider-gadget_3.0.0_$PLATFORM.zip
			a/$WIDGET/terraform-provider-widget_3.0.0.zip
			a/$WIDGET/terraform-provider-widget_v3.0.0_$PLATFORM.zip
			a/tf.example.com/ac_me/widget/3.0.0/$PLATFORM/`,
		files:    files{"a/README.md": "hello", "a/$WIDGET/index.json": "{}", "a/$WIDGET/3.0.0": "a file", "a/.git/HEAD": "ref"},
		installs: `a/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"what isn't quite a platform": {
		packages: `
			a/$WIDGET/1.0.0/$PLATFORM/
			a/$WIDGET/2.0.0/$PLATFORM.old/`,
		installs: `a/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"prerelease by name": {
		needs: "$WIDGET 1.0.0-beta1",
		comes: `a/$WIDGET/1.0.0-beta1/$PLATFORM/`,
	},
	"no such version": {
		needs: "$WIDGET >= 2.0",
		packages: `
			a/$WIDGET/1.0.0/$PLATFORM/`,
		fails: "no available releases match the given constraints >= 2.0.0",
	},
	"newer for another platform only": {
		packages: `
			a/$WIDGET/1.0.0/$PLATFORM/
			a/$WIDGET/1.1.0/plan9_mips/`,
		fails: "$WIDGET v1.1.0 does not have a package available for",
	},
	"no executable": {
		packages: `a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip`,
		files:    files{"a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip": string(packedFrom("widget.zip"))},
		fails:    "could not find executable file starting with terraform-provider-widget",
	},
	"no such directory": {
		fails: "cannot search $ROOT/a",
	},
	"relative path and -chdir": {
		chdir: true,
		cli:   `provider_installation { filesystem_mirror { path = "../a" } }`,
		comes: "a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"no variables in a path": {
		cli: `provider_installation { filesystem_mirror { path = "${HOME}/a" } direct {} }`,
		packages: `
			home/a/$WIDGET/1.0.0/$PLATFORM/`,
		fails: "cannot search",
	},
	"two directories, same version": {
		cli: fromAThenB,
		packages: `
			a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip
			b/$WIDGET/1.0.0/$PLATFORM/`,
		installs: `a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip`,
	},
	"two directories, newest in the second": {
		cli: fromAThenB,
		packages: `
			a/$WIDGET/1.0.0/$PLATFORM/
			b/$WIDGET/1.1.0/$PLATFORM/`,
		installs: `b/$WIDGET/1.1.0/$PLATFORM/`,
	},
	"two directories, platform in the second": {
		cli: fromAThenB,
		packages: `
			a/$WIDGET/1.0.0/plan9_mips/
			b/$WIDGET/1.0.0/$PLATFORM/`,
		installs: `b/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"two directories, the second missing": {
		cli:      fromAThenB,
		packages: `a/$WIDGET/1.0.0/$PLATFORM/`,
		fails:    "cannot search $ROOT/b",
	},
	"locked, packed": {
		files:    locking("1.0.0", packedH1("a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip")),
		packages: "a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip\na/$WIDGET/1.1.0/$PLATFORM/",
		installs: `a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip`,
	},
	"locked by the archive's checksum, packed": {
		files: locking("1.0.0", packedZH("a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip")),
		comes: `a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip`,
	},
	"locked by some archive's checksum, unpacked": {
		files: locking("1.0.0", wrongZH),
		comes: `a/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"locked with one hash of two right": {
		files: locking("1.0.0", wrongH1, packedZH("a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip")),
		comes: `a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip`,
	},
	"locked otherwise, packed": {
		files:    locking("1.0.0", wrongH1, wrongZH),
		packages: "a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip",
		fails:    notLocked,
	},
	"locked otherwise, unpacked": {
		files:    locking("1.0.0", wrongH1, wrongZH),
		packages: "a/$WIDGET/1.0.0/$PLATFORM/",
		fails:    notLocked,
	},
	"locked, and -upgrade": {
		args:     "-upgrade",
		files:    locking("1.0.0", wrongH1),
		packages: "a/$WIDGET/1.0.0/$PLATFORM/\na/$WIDGET/1.1.0/$PLATFORM/",
		installs: `a/$WIDGET/1.1.0/$PLATFORM/`,
	},
	"locked without hashes": {
		files:    locking("1.0.0"),
		packages: "a/$WIDGET/1.0.0/$PLATFORM/\na/$WIDGET/1.1.0/$PLATFORM/",
		installs: `a/$WIDGET/1.0.0/$PLATFORM/`,
	},
	"locked to what isn't there": {
		files:    locking("1.0.0", wrongH1),
		packages: "a/$WIDGET/1.1.0/$PLATFORM/",
		fails:    "$ROOT/a does not have version 1.0.0 of provider $WIDGET",
		theirs:   "the previously-selected version 1.0.0 is no longer available",
	},
}
