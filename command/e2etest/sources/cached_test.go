package sources

import (
	"bytes"
	"maps"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// fromCache is a case's locked package in the plugin cache, as its line in packages has it.
const fromCache = "cache/$WIDGET/1.0.0/$PLATFORM/"

// cachedCases have the package that the lock file records in the plugin cache. They are about whether it may be
// used, given what the CLI configuration says of the provider.
var cachedCases = map[string]sourceCase{
	"cached, excluded from the registry": {
		cli:   `provider_installation { filesystem_mirror { path = "$ROOT/a" } direct { exclude = ["tf.example.com/acme/*"] } }`,
		files: files{"a/README": "a mirror without packages"},
		fails: notFoundCached, theirs: notFound,
	},
	"cached, not included anywhere": {
		cli:   `provider_installation { direct { include = ["tf.example.com/others/*"] } }`,
		fails: notFoundCached, theirs: notFound,
	},
	"cached, excluded from a network mirror": {
		cli:   `provider_installation { network_mirror { url = "$MIRROR" exclude = ["tf.example.com/acme/widget"] } }`,
		fails: notFoundCached, theirs: notFound,
	},
	"cached, no method at all": {
		cli:   `provider_installation {}`,
		fails: "no source is configured for", theirs: "the previously-selected version 1.0.0 is no longer available",
	},
	"cached, and the only mirror has another version": {
		cli:      fromA,
		packages: "a/$WIDGET/2.0.0/$PLATFORM/",
		fails:    "does not have version 1.0.0 of provider $WIDGET", theirs: "the previously-selected version 1.0.0 is no longer available",
	},
	"cached, and the only mirror has another provider": {
		cli:      fromA,
		packages: "a/$GADGET/1.0.0/$PLATFORM/",
		fails:    notFoundCached, theirs: notFound,
	},
	"cached, and no mirror of two has the version": {
		cli:      fromAThenB,
		packages: "a/$GADGET/1.0.0/$PLATFORM/\nb/$WIDGET/1.1.0/$PLATFORM/",
		fails:    notFoundCached, theirs: "the previously-selected version 1.0.0 is no longer available",
	},
	"cached, and the only mirror doesn't exist": {
		cli:   fromA,
		fails: "cannot search",
	},
	"cached, and an implied mirror has another version": {
		packages: "home/.terraform.d/plugins/$WIDGET/2.0.0/$PLATFORM/",
		fails:    notFoundCached, theirs: "the previously-selected version 1.0.0 is no longer available",
	},
	"cached, and -plugin-dir has another version": {
		args:     "-plugin-dir=$ROOT/a",
		packages: "a/$WIDGET/2.0.0/$PLATFORM/",
		fails:    "does not have version 1.0.0 of provider $WIDGET", theirs: "the previously-selected version 1.0.0 is no longer available",
	},

	"cached, and the second mirror has the version": {
		cli:      fromAThenB,
		packages: "a/$WIDGET/1.1.0/$PLATFORM/\nb/$WIDGET/1.0.0/$PLATFORM/",
		installs: fromCache,
	},
	"cached, and the only mirror has the version for others": {
		cli:      fromA,
		packages: "a/$WIDGET/1.0.0/plan9_mips/",
		installs: fromCache,
	},
	"cached, and the only mirror has it packed": {
		cli:      fromA,
		packages: "a/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip",
		installs: fromCache,
	},
	"cached, and -plugin-dir has the version": {
		args:     "-plugin-dir=$ROOT/a",
		packages: "a/$WIDGET/1.0.0/$PLATFORM/",
		installs: fromCache,
	},
	"cached, and the registry has the version": {installs: fromCache},
	"cached, and the registry has what the mirror lacks": {
		cli:      fromAOrOrigin,
		packages: "a/$WIDGET/1.1.0/$PLATFORM/",
		installs: fromCache,
	},
	"cached, and a network mirror may have it": {
		cli:      fromMirror,
		mirrors:  "1.0.0",
		installs: fromCache,
	},

	"cached, but withdrawn from the network mirror": {
		cli:      fromMirror,
		mirrors:  "2.0.0",
		installs: fromCache, theirs: "the previously-selected version 1.0.0 is no longer available",
	},
	"cached, but withdrawn from the registry": {
		arrange: func(w *sourceWorld) {
			w.registry.Break("versions", providertest.Fault{Body: func(document []byte) []byte {
				return bytes.ReplaceAll(document, []byte("1.0.0"), []byte("1.0.9"))
			}})
		},
		installs: fromCache, theirs: "the previously-selected version 1.0.0 is no longer available",
	},
}

// The error of tfdeps if no source has the version, which names it.
const notFoundCached = "provider $WIDGET v1.0.0 for $PLATFORM was not found in any of the search locations"

// cachePackage puts the locked package of a case into the plugin cache.
func (c sourceCase) cachePackage() sourceCase {
	c.packages += "\n" + fromCache
	c.env = append(c.env, "TF_PLUGIN_CACHE_DIR=$ROOT/cache")
	all := locking("1.0.0", packedH1(fromCache))
	maps.Copy(all, c.files)
	c.files = all
	return c
}
