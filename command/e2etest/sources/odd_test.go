package sources

import (
	"strings"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

const packedWidget = "a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip"

// shouted is the platform in upper case.
var shouted = strings.ToUpper(expandNames("$PLATFORM"))

// oddDirectoryCases are about names in a filesystem mirror that look like those of packages, or nearly so.
var oddDirectoryCases = map[string]sourceCase{
	"short version before packed":          {packages: "a/$WIDGET/1.0/$PLATFORM/\n" + packedWidget, installs: "a/$WIDGET/1.0/$PLATFORM/"},
	"unpacked for another platform":        {packages: "a/$WIDGET/1.0.0/plan9_arm/", comes: "\n" + packedWidget},
	"prerelease and release":               {packages: "a/$WIDGET/1.0.0-beta/$PLATFORM/\na/$WIDGET/0.9.0/$PLATFORM/", installs: "a/$WIDGET/0.9.0/$PLATFORM/"},
	"build metadata":                       {comes: "a/$WIDGET/1.0.0+abc/$PLATFORM/"},
	"build metadata, packed":               {comes: "a/$WIDGET/terraform-provider-widget_1.0.0+abc_$PLATFORM.zip"},
	"short version, packed":                {comes: "a/$WIDGET/terraform-provider-widget_1.0_$PLATFORM.zip"},
	"archive with two suffixes":            {comes: "a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM_a_b.zip"},
	"archive for a platform in upper case": {comes: "a/$WIDGET/terraform-provider-widget_1.0.0_" + shouted + ".zip"},
	"two archives":                         {packages: packedWidget + "\na/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM_SIGNED.zip", installs: packedWidget},
	"two archives, short version":          {packages: packedWidget + "\na/$WIDGET/terraform-provider-widget_1.0_$PLATFORM.zip", installs: packedWidget},
	"directories in upper case":            {comes: "a/TF.Example.COM/ACME/Widget/terraform-provider-widget_1.0.0_$PLATFORM.zip"},
	"host with its default port":           {comes: "a/tf.example.com:443/acme/widget/1.0.0/$PLATFORM/"},
	"host with a port":                     {needs: "tf.example.com:8443/acme/widget", comes: "a/tf.example.com:8443/acme/widget/1.0.0/$PLATFORM/"},
	"host in Unicode":                      {needs: "испытание.example/acme/widget", comes: "a/испытание.example/acme/widget/1.0.0/$PLATFORM/"},
	"type in decomposed Unicode": {
		needs: "tf.example.com/acme/caf\u00e9", files: files{"a/tf.example.com/acme/cafe\u0301/1.0.0/$PLATFORM/terraform-provider-caf\u00e9": "x"}, installs: "x",
	},
	"stray directories": {packages: "a/.git/x/\na/lost+found/\na/a--b/c/d/\na/$WIDGET/2.0.0/\na/$WIDGET/index/\n", comes: packedWidget},

	"for other platforms only":         {packages: "a/$WIDGET/1.0.0/plan9_arm/\na/$WIDGET/terraform-provider-widget_1.0.0_plan9_mips.zip", fails: "$WIDGET v1.0.0 does not have a package available for"},
	"four numbers":                     {packages: "a/$WIDGET/1.0.0.1/$PLATFORM/", fails: notFound},
	"prerelease only":                  {packages: "a/$WIDGET/1.0.0-beta/$PLATFORM/", fails: "no release of provider", theirs: "no available releases match"},
	"archive with another ending":      {packages: "a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.tar", fails: notFound},
	"archive that is a directory":      {packages: packedWidget + "/", fails: notFound},
	"archive a level too deep":         {packages: "a/$WIDGET/1.0.0/terraform-provider-widget_1.0.0_$PLATFORM.zip", fails: notFound},
	"archive a level too high":         {packages: "a/tf.example.com/acme/terraform-provider-widget_1.0.0_$PLATFORM.zip", fails: notFound},
	"file for a platform":              {files: files{"a/$WIDGET/1.0.0/$PLATFORM": "x"}, fails: notFound},
	"platform in upper case":           {packages: "a/$WIDGET/1.0.0/" + shouted + "/", fails: "$WIDGET v1.0.0 does not have a package available for"},
	"platform of three words":          {packages: "a/$WIDGET/1.0.0/$PLATFORM_SIGNED/", fails: notFound},
	"host in punycode":                 {needs: "испытание.example/acme/widget", packages: "a/xn--80akhbyknj4f.example/acme/widget/1.0.0/$PLATFORM/", fails: "was not found in any of the search locations"},
	"platform is a link to nothing":    {packages: "a/$WIDGET/1.0.0/$PLATFORM -> nowhere", fails: notFound},
	"platform is a link to a file":     {packages: "a/$WIDGET/1.0.0/$PLATFORM -> $ROOT/file", files: files{"file": "x"}, fails: notFound},
	"platform is a link to itself":     {packages: "a/$WIDGET/1.0.0/$PLATFORM -> $PLATFORM", fails: notFound},
	"archive is a link to nothing":     {packages: packedWidget + " -> nowhere", fails: notFound},
	"archive is a link to a directory": {packages: packedWidget + " -> $ROOT/work", fails: notFound},
}

// archiveURL is the URL of the network mirror's only archive.
const archiveURL = `"url": "terraform-provider-widget_1.0.0_$PLATFORM.zip"`

// oddDocuments are unusual documents of a network mirror: their kind, their text, and whether the package is installed even so.
var oddDocuments = map[string]struct {
	kind, text string
	comes      bool
}{
	"zh in upper case":             {"version", `{"archives": {"$PLATFORM": {` + archiveURL + `, "hashes": ["zh:ABCDEF"]}}}`, false},
	"null hash":                    {"version", `{"archives": {"$PLATFORM": {` + archiveURL + `, "hashes": [null]}}}`, false},
	"null hashes":                  {"version", `{"archives": {"$PLATFORM": {` + archiveURL + `, "hashes": null}}}`, true},
	"hashes as text":               {"version", `{"archives": {"$PLATFORM": {` + archiveURL + `, "hashes": "h1:x"}}}`, false},
	"no URL of an archive":         {"version", `{"archives": {"$PLATFORM": {}}}`, false},
	"another platform is broken":   {"version", `{"archives": {"$PLATFORM": {` + archiveURL + `}, "zos_s390x": {"url": ":", "hashes": ["x"]}}}`, true},
	"null archives":                {"version", `{"archives": null}`, false},
	"archives as a list":           {"version", `{"archives": []}`, false},
	"null hint of a version":       {"index", `{"versions": {"1.0.0": null}}`, true},
	"short version in the index":   {"index", `{"versions": {"1.0": {}}}`, true},
	"nothing but odd versions":     {"index", `{"versions": {"v1.0.0": {}}}`, false},
	"null versions":                {"index", `{"versions": null}`, false},
	"index without versions":       {"index", `{}`, false},
	"index is null":                {"index", `null`, false},
	"index is a list":              {"index", `[]`, false},
	"property in upper case":       {"index", `{"Versions": {"1.0.0": {}}}`, true},
	"index of a registry":          {"index", `{"versions": [{"version": "1.0.0"}]}`, false},
	"index with a byte order mark": {"index", "\ufeff" + `{"versions": {"1.0.0": {}}}`, false},
}

// oddAnswerCases returns the cases of oddDocuments, and further ones about HTTP.
func oddAnswerCases() map[string]sourceCase {
	cases := map[string]sourceCase{
		"media type like that of JSON": {arrange: func(w *sourceWorld) { w.sends("index", "application/vnd.api+json") }, fails: "Content-Type", theirs: "invalid Content-Type"},
		"broken media type":            {arrange: func(w *sourceWorld) { w.sends("index", "application/json; =") }, fails: "Content-Type", theirs: "invalid Content-Type"},
		"index without content":        {arrange: func(w *sourceWorld) { w.answers("index", 204) }, fails: "204 No Content", theirs: "status 204"},
		"index gone":                   {arrange: func(w *sourceWorld) { w.answers("index", 410) }, fails: "410 Gone", theirs: "status 410"},
		"base URL with a query":        {cli: `provider_installation { network_mirror { url = "$MIRROR?a=b#c" } }`, installs: "mirror/1.0.0"},
	}
	for name, odd := range oddDocuments {
		c := sourceCase{installs: "mirror/1.0.0", arrange: func(w *sourceWorld) {
			w.mirror.Break(odd.kind, providertest.Fault{Body: func([]byte) []byte { return []byte(w.expand(odd.text)) }})
		}}
		if !odd.comes {
			c.installs, c.fails = "", "$WIDGET"
		}
		cases[name] = c
	}
	return cases
}
