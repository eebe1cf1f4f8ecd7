package sources

import (
	"net/http"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// networkMirrorCases are about a network mirror alone.
var networkMirrorCases = []sourceCase{
	{
		name:     "both hashes",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0") },
		installs: "mirror/1.0.0",
	},
	{
		name:     "h1",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0", servedH1("mirror/1.0.0")) },
		installs: "mirror/1.0.0",
	},
	{
		name:     "zh",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0", servedZH("mirror/1.0.0")) },
		installs: "mirror/1.0.0",
	},
	{
		name:     "no hashes",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0", noHashes...) },
		installs: "mirror/1.0.0",
	},
	{
		name:     "wrong h1, right zh",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0", wrongH1, servedZH("mirror/1.0.0")) },
		installs: "mirror/1.0.0",
	},
	{
		name:    "wrong h1",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0", wrongH1) },
		fails:   "expected " + wrongH1,
		theirs:  `package doesn't match the expected checksum "` + wrongH1,
	},
	{
		name:    "wrong hashes",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0", wrongH1, wrongZH) },
		fails:   "expected any of: " + wrongH1 + ", " + wrongZH,
		theirs:  "package doesn't match the any of the expected checksums",
	},
	{
		name:    "unknown schemes",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0", "h9:abc", "sha512:def") },
		fails:   "no checksum of a known scheme",
		theirs:  "does not support any of the checksum formats",
	},
	{
		name:     "unknown scheme beside a known one",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0", "h9:abc", servedH1("mirror/1.0.0")) },
		installs: "mirror/1.0.0",
	},
	{
		name:    "hash without a scheme",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0", "abc", servedH1("mirror/1.0.0")) },
		fails:   `hashes[0] is "abc"`,
		theirs:  `invalid provider hash "abc"`,
	},
	{
		name:     "newest that fits",
		needs:    "$WIDGET ~> 1.0",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.9.0"); w.mirrors("1.10.0"); w.mirrors("2.0.0") },
		installs: "mirror/1.10.0",
	},
	{
		name: "versions that are none",
		cli:  fromMirror,
		arrange: func(w *sourceWorld) {
			w.mirrors("1.0.0")
			w.edits("index", `"1.0.0": {}`, `"1.0.0": {}, "latest": {}, "v2.0.0": {}, "1.2.3.4": {}`)
		},
		installs: "mirror/1.0.0",
	},
	{
		name:    "no versions",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.edits("index", `"1.0.0": {}`, "") },
		fails:   notFound,
	},
	{
		name:    "index in HTML",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.sends("index", "text/html") },
		fails:   `Content-Type is "text/html" and has to be application/json`,
		theirs:  "invalid Content-Type: must be application/json",
	},
	{
		name:    "version document in plain text",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.sends("version", "text/plain; charset=utf-8") },
		fails:   `Content-Type is "text/plain; charset=utf-8" and has to be application/json`,
		theirs:  "invalid Content-Type: must be application/json",
	},
	{
		name: "media type with parameters",
		cli:  fromMirror,
		arrange: func(w *sourceWorld) {
			w.mirrors("1.0.0")
			w.sends("index", "application/json; charset=utf-8")
			w.sends("version", "application/json;odd=yes")
		},
		installs: "mirror/1.0.0",
	},
	{
		name:  "index not found",
		cli:   fromMirror,
		fails: notFound,
	},
	{
		name:    "index not allowed",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.answers("index", http.StatusUnauthorized) },
		fails:   "host $MIRRORHOST requires authentication credentials",
		theirs:  "host $MIRRORHOST rejected the given authentication credentials",
	},
	{
		name:    "index forbidden",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.answers("index", http.StatusForbidden) },
		fails:   "host $MIRRORHOST denies access",
		theirs:  "host $MIRRORHOST rejected the given authentication credentials",
	},
	{
		name:    "index broken",
		cli:     mirrorOrOrigin,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.answers("index", http.StatusInternalServerError) },
		fails:   "500 Internal Server Error",
	},
	{
		name: "index broken once",
		cli:  fromMirror,
		arrange: func(w *sourceWorld) {
			w.mirrors("1.0.0")
			w.mirror.Break("index", providertest.Fault{Status: http.StatusServiceUnavailable, Times: 1})
		},
		installs: "mirror/1.0.0",
	},
	{
		name:    "index isn't JSON",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.edits("index", "{", "[") },
		fails:   "invalid character ':' after array element",
	},
	{
		name:    "version document not found",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.answers("version", http.StatusNotFound) },
		fails:   "does not have version 1.0.0 of provider $WIDGET",
		theirs:  "does not have archive index for previously-reported $WIDGET version 1.0.0",
	},
	{
		name:    "archive not found",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.answers("archive", http.StatusNotFound) },
		fails:   "404 Not Found",
		theirs:  "bad response code: 404",
	},
	{
		name:    "no such platform",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.edits("version", "$PLATFORM", "plan9_mips") },
		fails:   "$WIDGET v1.0.0 does not have a package available for",
	},
	{
		name:     "absolute URL of an archive",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0"); w.elsewhere(w.other) },
		installs: "other/1.0.0",
	},
	{
		name:     "archive by http",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0"); w.elsewhere(w.plain) },
		installs: "other/1.0.0",
	},
	{
		name: "URL of an archive from the root",
		cli:  fromMirror,
		arrange: func(w *sourceWorld) {
			w.mirrors("1.0.0")
			w.edits("version", `"url": "`, `"url": "/providers/$WIDGET/../widget/`)
		},
		installs: "mirror/1.0.0",
	},
	{
		name:    "URL of an archive by ftp",
		cli:     fromMirror,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0"); w.edits("version", `"url": "`, `"url": "ftp://localhost/`) },
		fails:   `url has the scheme "ftp"`,
		theirs:  `unsupported protocol scheme "ftp"`,
	},
	{
		name: "redirects of documents",
		cli:  fromMirror,
		arrange: func(w *sourceWorld) {
			w.offers(w.other)
			w.mirror.Break("index", providertest.Fault{Redirect: w.expand("$OTHER$WIDGET/index.json")})
			w.mirror.Break("version", providertest.Fault{Redirect: w.expand("$OTHER$WIDGET/1.0.0.json")})
		},
		installs: "other/1.0.0",
	},
	{
		name: "redirect of an archive",
		cli:  fromMirror,
		arrange: func(w *sourceWorld) {
			w.mirrors("1.0.0", noHashes...)
			w.offers(w.other)
			w.mirror.Break("archive", providertest.Fault{Redirect: w.expand("$OTHER$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip")})
		},
		installs: "other/1.0.0",
	},
	{
		name: "redirects in a circle",
		cli:  fromMirror,
		arrange: func(w *sourceWorld) {
			w.mirror.Break("index", providertest.Fault{Redirect: w.expand("$MIRROR$WIDGET/index.json")})
		},
		fails:  "stopped after 5 redirects",
		theirs: "302 Found",
	},
	{
		name:     "base URL whose last segment doesn't matter",
		cli:      `provider_installation { network_mirror { url = "$MIRRORx" } }`,
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0") },
		installs: "mirror/1.0.0",
	},
	{
		name:    "base URL whose last segment matters, without a slash",
		cli:     `provider_installation { network_mirror { url = "https://$MIRRORHOST/providers" } }`,
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0") },
		fails:   notFound,
	},
	{
		name:     "base URL by http",
		cli:      `provider_installation { network_mirror { url = "$PLAIN" } }`,
		arrange:  func(w *sourceWorld) { w.offers(w.plain) },
		installs: "other/1.0.0",
	},
	{
		name:   "base URL by ftp",
		cli:    `provider_installation { network_mirror { url = "ftp://localhost/" } }`,
		fails:  "the URL of a network mirror has to have the scheme https",
		theirs: "the mirror must be at an https: URL",
	},
	{
		name:   "no base URL",
		cli:    `provider_installation { network_mirror {} }`,
		fails:  `needs the argument "url"`,
		theirs: `"url" argument is required`,
	},
	{
		name:  "provider host with a port",
		needs: "mirrored.example.com:8443/acme/widget",
		cli:   fromMirror,
		arrange: func(w *sourceWorld) {
			w.mirror.Add("mirrored.example.com:8443", widgetPackage("mirror/1.0.0"))
		},
		installs: "mirror/1.0.0",
	},
	{
		name:     "provider host in Unicode",
		needs:    "bücher.example/acme/widget",
		cli:      fromMirror,
		arrange:  func(w *sourceWorld) { w.mirror.Add("xn--bcher-kva.example", widgetPackage("mirror/1.0.0")) },
		installs: "mirror/1.0.0",
	},
	{
		name:     "mirror locked by h1",
		cli:      fromMirror,
		files:    locking("1.0.0", servedH1("mirror/1.0.0")),
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0"); w.mirrors("1.1.0") },
		installs: "mirror/1.0.0",
	},
	{
		name:     "mirror locked by zh",
		cli:      fromMirror,
		files:    locking("1.0.0", servedZH("mirror/1.0.0"), wrongZH),
		arrange:  func(w *sourceWorld) { w.mirrors("1.0.0") },
		installs: "mirror/1.0.0",
	},
	{
		name:    "mirror locked otherwise",
		cli:     fromMirror,
		files:   locking("1.0.0", wrongH1, wrongZH),
		arrange: func(w *sourceWorld) { w.mirrors("1.0.0") },
		fails:   notLocked,
	},
	{
		name:    "mirror locked to what isn't there",
		cli:     fromMirror,
		files:   locking("1.0.0", wrongH1),
		arrange: func(w *sourceWorld) { w.mirrors("1.1.0") },
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

// elsewhere has the network mirror's documents name another one's archives,
// about which they know nothing.
func (w *sourceWorld) elsewhere(other *providertest.Mirror) {
	w.offers(other)
	w.mirrors("1.0.0", noHashes...)
	w.edits("version", `"url": "`, `"url": "`+other.URL()+"$WIDGET/")
}
