package sources

import (
	"net/http"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// networkMirrorCases are about a network mirror alone, which has version 1.0.0 unless a case says otherwise.
var networkMirrorCases = map[string]sourceCase{
	"zh": {
		hashes:   []string{servedZH("mirror/1.0.0")},
		installs: "mirror/1.0.0",
	},
	"no hashes": {
		hashes:   noHashes,
		installs: "mirror/1.0.0",
	},
	"wrong h1, right zh": {
		hashes:   []string{wrongH1, servedZH("mirror/1.0.0")},
		installs: "mirror/1.0.0",
	},
	"wrong h1": {
		hashes: []string{wrongH1},
		fails:  "expected " + wrongH1,
		theirs: `package doesn't match the expected checksum "` + wrongH1,
	},
	"wrong hashes": {
		hashes: []string{wrongH1, wrongZH},
		fails:  "expected any of: " + wrongH1 + ", " + wrongZH,
		theirs: "package doesn't match the any of the expected checksums",
	},
	"unknown schemes": {
		hashes: []string{"h9:abc", "sha512:def"},
		fails:  "no checksum of a known scheme",
		theirs: "does not support any of the checksum formats",
	},
	"unknown scheme beside a known one": {
		hashes:   []string{"h9:abc", servedH1("mirror/1.0.0")},
		installs: "mirror/1.0.0",
	},
	"hash without a scheme": {
		hashes: []string{"abc", servedH1("mirror/1.0.0")},
		fails:  `hashes[0] is "abc"`,
		theirs: `invalid provider hash "abc"`,
	},
	"newest that fits": {
		needs:    "$WIDGET ~> 1.0",
		mirrors:  "1.9.0 1.10.0 2.0.0",
		installs: "mirror/1.10.0",
	},
	"versions that are none": {
		edits:    []string{"index", `"1.0.0": {}`, `"1.0.0": {}, "latest": {}, "v2.0.0": {}, "1.2.3.4": {}`},
		installs: "mirror/1.0.0",
	},
	"no versions": {
		edits: []string{"index", `"1.0.0": {}`, ""},
		fails: notFound,
	},
	"index in HTML": {
		arrange: func(w *sourceWorld) { w.sends("index", "text/html") },
		fails:   `Content-Type is "text/html" and has to be application/json`,
		theirs:  "invalid Content-Type: must be application/json",
	},
	"media type with parameters": {
		arrange: func(w *sourceWorld) {
			w.sends("index", "application/json; charset=utf-8")
			w.sends("version", "application/json;odd=yes")
		},
		installs: "mirror/1.0.0",
	},
	"index not found": {
		mirrors: " ",
		fails:   notFound,
	},
	"index forbidden": {
		arrange: func(w *sourceWorld) { w.answers("index", http.StatusForbidden) },
		fails:   "host $MIRRORHOST denies access",
		theirs:  "host $MIRRORHOST rejected the given authentication credentials",
	},
	"index broken": {
		cli:     mirrorOrOrigin,
		arrange: func(w *sourceWorld) { w.answers("index", http.StatusInternalServerError) },
		fails:   "500 Internal Server Error",
	},
	"index broken once": {
		arrange: func(w *sourceWorld) {
			w.mirror.Break("index", providertest.Fault{Status: http.StatusServiceUnavailable, Times: 1})
		},
		installs: "mirror/1.0.0",
	},
	"index isn't JSON": {
		edits: []string{"index", "{", "["},
		fails: "invalid character ':' after array element",
	},
	"version document not found": {
		arrange: func(w *sourceWorld) { w.answers("version", http.StatusNotFound) },
		fails:   "does not have version 1.0.0 of provider $WIDGET",
		theirs:  "does not have archive index for previously-reported $WIDGET version 1.0.0",
	},
	"archive not found": {
		arrange: func(w *sourceWorld) { w.answers("archive", http.StatusNotFound) },
		fails:   "404 Not Found",
		theirs:  "bad response code: 404",
	},
	"no such platform": {
		edits: []string{"version", "$PLATFORM", "plan9_mips"},
		fails: "$WIDGET v1.0.0 does not have a package available for",
	},
	"absolute URL of an archive": {
		arrange:  func(w *sourceWorld) { w.elsewhere(w.other) },
		installs: "other/1.0.0",
	},
	"archive by http": {
		arrange:  func(w *sourceWorld) { w.elsewhere(w.plain) },
		installs: "other/1.0.0",
	},
	"URL of an archive from the root": {
		edits:    []string{"version", `"url": "`, `"url": "/providers/$WIDGET/../widget/`},
		installs: "mirror/1.0.0",
	},
	"URL of an archive by ftp": {
		edits:  []string{"version", `"url": "`, `"url": "ftp://localhost/`},
		fails:  `url has the scheme "ftp"`,
		theirs: `unsupported protocol scheme "ftp"`,
	},
	"redirects of documents": {
		arrange: func(w *sourceWorld) {
			w.offers(w.other)
			w.mirror.Break("index", providertest.Fault{Redirect: w.expand("$OTHER$WIDGET/index.json")})
			w.mirror.Break("version", providertest.Fault{Redirect: w.expand("$OTHER$WIDGET/1.0.0.json")})
		},
		installs: "other/1.0.0",
	},
	"redirect of an archive": {
		hashes: noHashes,
		arrange: func(w *sourceWorld) {
			w.offers(w.other)
			w.mirror.Break("archive", providertest.Fault{Redirect: w.expand("$OTHER$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip")})
		},
		installs: "other/1.0.0",
	},
	"redirects in a circle": {
		arrange: func(w *sourceWorld) {
			w.mirror.Break("index", providertest.Fault{Redirect: w.expand("$MIRROR$WIDGET/index.json")})
		},
		fails:  "stopped after 5 redirects",
		theirs: "302 Found",
	},
	"base URL whose last segment doesn't matter": {
		cli:      `provider_installation { network_mirror { url = "$MIRRORx" } }`,
		installs: "mirror/1.0.0",
	},
	"base URL whose last segment matters, without a slash": {
		cli:   `provider_installation { network_mirror { url = "https://$MIRRORHOST/providers" } }`,
		fails: notFound,
	},
	"base URL by http": {
		cli:      `provider_installation { network_mirror { url = "$PLAIN" } }`,
		arrange:  func(w *sourceWorld) { w.offers(w.plain) },
		installs: "other/1.0.0",
	},
	"base URL by ftp": {
		cli:    `provider_installation { network_mirror { url = "ftp://localhost/" } }`,
		fails:  "the URL of a network mirror has to have the scheme https",
		theirs: "the mirror must be at an https: URL",
	},
	"no base URL": {
		cli:    `provider_installation { network_mirror {} }`,
		fails:  `needs the argument "url"`,
		theirs: `"url" argument is required`,
	},
	"provider host with a port": {
		needs:    "mirrored.example.com:8443/acme/widget",
		arrange:  func(w *sourceWorld) { w.mirror.Add("mirrored.example.com:8443", widgetPackage("mirror/1.0.0")) },
		installs: "mirror/1.0.0",
	},
	"provider host in Unicode": {
		needs:    "bücher.example/acme/widget",
		arrange:  func(w *sourceWorld) { w.mirror.Add("xn--bcher-kva.example", widgetPackage("mirror/1.0.0")) },
		installs: "mirror/1.0.0",
	},
	"mirror locked by h1": {
		files:    locking("1.0.0", servedH1("mirror/1.0.0")),
		mirrors:  "1.0.0 1.1.0",
		installs: "mirror/1.0.0",
	},
	"mirror locked by zh": {
		files:    locking("1.0.0", servedZH("mirror/1.0.0"), wrongZH),
		installs: "mirror/1.0.0",
	},
	"mirror locked otherwise": {
		files: locking("1.0.0", wrongH1, wrongZH),
		fails: notLocked,
	},
	"mirror locked to what isn't there": {
		files:   locking("1.0.0", wrongH1),
		mirrors: "1.1.0",
		fails:   "does not have version 1.0.0 of provider $WIDGET",
		theirs:  "the previously-selected version 1.0.0 is no longer available",
	},
}

// sends changes the media type of the network mirror's documents of a kind.
func (w *sourceWorld) sends(kind, mediaType string) {
	w.mirror.Break(kind, providertest.Fault{Header: http.Header{"Content-Type": {mediaType}}})
}

// answers breaks the network mirror's answers of a kind.
func (w *sourceWorld) answers(kind string, status int) {
	w.mirror.Break(kind, providertest.Fault{Status: status})
}

// offers publishes $WIDGET in another network mirror.
func (w *sourceWorld) offers(other *providertest.Mirror) {
	other.Add("tf.example.com", widgetPackage("other/1.0.0"))
}

// elsewhere makes the network mirror's documents name another mirror's archives,
// without hashes.
func (w *sourceWorld) elsewhere(other *providertest.Mirror) {
	w.offers(other)
	w.mirrors("1.0.0", noHashes...)
	w.edits("version", `"url": "`, `"url": "`+other.URL()+"$WIDGET/")
}

// mixtureCases are about sources of several kinds.
var mixtureCases = map[string]sourceCase{
	"mirror before registry, same version": {
		needs:    "$WIDGET 1.0.0",
		cli:      mirrorOrOrigin,
		mirrors:  "1.0.0",
		installs: "mirror/1.0.0",
	},
	"registry before mirror, same version": {
		needs:    "$WIDGET 1.0.0",
		cli:      `provider_installation { direct {} network_mirror { url = "$MIRROR" } }`,
		mirrors:  "1.0.0",
		installs: "registry/1.0.0",
	},
	"newest in the registry": {
		cli:      mirrorOrOrigin,
		mirrors:  "1.0.0",
		installs: "registry/2.0.0",
	},
	"newest in the registry, directory before it": {
		cli:      fromAOrOrigin,
		packages: "a/$WIDGET/1.0.0/$PLATFORM/",
		installs: "registry/2.0.0",
	},
	"newest in a directory before the registry": {
		cli:   fromAOrOrigin,
		comes: "a/$WIDGET/3.0.0/$PLATFORM/",
	},
	"mirror without the provider": {
		cli:      mirrorOrOrigin,
		installs: "registry/2.0.0",
	},
	"mirror with the provider for another platform": {
		needs:    "$WIDGET 1.0.0",
		cli:      mirrorOrOrigin,
		mirrors:  "1.0.0",
		edits:    []string{"version", "$PLATFORM", "plan9_mips"},
		installs: "registry/1.0.0",
	},
	"mirror that lacks what it lists": {
		needs:    "$WIDGET 1.0.0",
		cli:      mirrorOrOrigin,
		mirrors:  "1.0.0",
		arrange:  func(w *sourceWorld) { w.answers("version", http.StatusNotFound) },
		installs: "registry/1.0.0",
	},
	"mirror that refuses": {
		cli:     mirrorOrOrigin,
		arrange: func(w *sourceWorld) { w.answers("index", http.StatusUnauthorized) },
		fails:   "host $MIRRORHOST requires authentication credentials",
		theirs:  "host $MIRRORHOST rejected the given authentication credentials",
	},
	"directory, mirror, registry": {
		needs: "$WIDGET\n$GADGET\nother.example.com/acme/widget",
		cli: `
			provider_installation {
			  filesystem_mirror {
			    path    = "$ROOT/a"
			    include = ["$GADGET"]
			  }
			  network_mirror {
			    url     = "$MIRROR"
			    include = ["other.example.com/*/*"]
			  }
			  direct {
			    exclude = ["other.example.com/*/*", "$GADGET"]
			  }
			}`,
		packages: "a/$GADGET/1.0.0/$PLATFORM/\na/$WIDGET/9.0.0/$PLATFORM/",
		arrange:  func(w *sourceWorld) { w.mirror.Add("other.example.com", widgetPackage("mirror/1.0.0")) },
		installs: "mirror/1.0.0 a/$GADGET/1.0.0/$PLATFORM/ registry/2.0.0",
	},
	"two network mirrors": {
		cli: `provider_installation { network_mirror { url = "$MIRROR" } network_mirror { url = "$OTHER" } }`,
		arrange: func(w *sourceWorld) {
			w.mirror.Add("tf.example.com", widgetPackage("mirror/0.9.0"))
			w.offers(w.other)
		},
		installs: "other/1.0.0",
	},
	"locked to the registry's package, which the mirror hasn't": {
		needs:   "$WIDGET",
		cli:     mirrorOrOrigin,
		files:   locking("1.0.0", servedH1("registry/1.0.0")),
		mirrors: "1.0.0",
		fails:   notLocked,
	},
	"locked to the registry's package, which the mirror has": {
		cli:      mirrorOrOrigin,
		files:    locking("1.0.0", servedH1("registry/1.0.0"), servedZH("registry/1.0.0")),
		arrange:  func(w *sourceWorld) { w.mirror.Add("tf.example.com", widgetPackage("registry/1.0.0")) },
		installs: "registry/1.0.0",
	},
	"empty provider_installation": {
		cli:    `provider_installation {}`,
		fails:  "no source is configured for provider $WIDGET",
		theirs: "no available releases match the given constraints",
	},
}
