package sources

import (
	"net/http"
)

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
		fails:  "there is no source to look for provider $WIDGET in",
		theirs: "no available releases match the given constraints",
	},
}
