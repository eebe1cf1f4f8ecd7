package sources

// patternCases are about include and exclude.
var patternCases = map[string]sourceCase{
	"include one provider": {
		needs:    "$WIDGET 1.0.0\n$GADGET",
		cli:      withPatterns(`include = ["$WIDGET"]`, ""),
		packages: "a/$WIDGET/1.0.0/$PLATFORM/\na/$GADGET/1.0.0/$PLATFORM/",
		fails:    "provider $GADGET was not found in any of the search locations",
		theirs:   "provider registry tf.example.com does not have a provider named $GADGET",
	},
	"include two segments": {
		needs:    "hashicorp/widget\nacme/widget",
		cli:      withPatterns(`include = ["hashicorp/*", "acme/widget"]`, `exclude = ["*/*/*"]`),
		packages: "a/registry.terraform.io/hashicorp/widget/1.0.0/$PLATFORM/\na/registry.terraform.io/acme/widget/1.0.0/$PLATFORM/",
		installs: "a/registry.terraform.io/acme/widget/1.0.0/$PLATFORM/ a/registry.terraform.io/hashicorp/widget/1.0.0/$PLATFORM/",
	},
	"two segments are of the public registry": {
		cli:      withPatterns(`include = ["acme/*"]`, ""),
		packages: "a/$WIDGET/9.0.0/$PLATFORM/",
		installs: "registry/2.0.0",
	},
	"include is in upper case": {
		cli:   withPatterns(`include = ["TF.Example.com/ACME/Widget"]`, `exclude = ["TF.Example.com/ACME/Widget"]`),
		comes: "a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"exclude of the registry": {
		cli:   withPatterns("", `exclude = ["$WIDGET"]`),
		comes: "a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"include of the registry": {
		cli:   withPatterns("", `include = ["$GADGET"]`),
		comes: "a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"a precise pattern has no precedence": {
		cli:   withPatterns(`include = ["*/*/*"]`, `include = ["$WIDGET"]`),
		comes: "a/$WIDGET/2.0.0/$PLATFORM/",
	},
}

// withPatterns returns a CLI configuration with arguments for the directory a
// and for the registry.
func withPatterns(a, origin string) string {
	return "provider_installation {\n filesystem_mirror {\n path = \"$ROOT/a\"\n " + a + "\n }\n direct {\n " + origin + "\n }\n}\n"
}

// impliedCases are about directories that no one names, and about -plugin-dir.
var impliedCases = map[string]sourceCase{
	"no word about sources": {
		installs: "registry/2.0.0",
	},
	"working directory": {
		comes: "work/terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/",
	},
	"user's data": {
		comes: "home/.local/share/terraform/plugins/$WIDGET/terraform-provider-widget_1.0.0_$PLATFORM.zip",
	},
	"XDG_DATA_HOME": {
		env:      []string{"XDG_DATA_HOME=$ROOT/data"},
		packages: "data/terraform/plugins/$WIDGET/1.0.0/$PLATFORM/\nhome/.local/share/terraform/plugins/$WIDGET/1.1.0/$PLATFORM/",
		installs: "data/terraform/plugins/$WIDGET/1.0.0/$PLATFORM/",
	},
	"XDG_DATA_DIRS": {
		env:      []string{"XDG_DATA_DIRS=$ROOT/one:$ROOT/two"},
		packages: "one/terraform/plugins/$WIDGET/1.0.0/$PLATFORM/\ntwo/terraform/plugins/$WIDGET/1.1.0/$PLATFORM/",
		installs: "two/terraform/plugins/$WIDGET/1.1.0/$PLATFORM/",
	},
	"order of implied directories": {
		env: []string{"XDG_DATA_DIRS=$ROOT/one"},
		packages: `
			one/terraform/plugins/$WIDGET/1.0.0/$PLATFORM/
			home/.local/share/terraform/plugins/$WIDGET/1.0.0/$PLATFORM/
			home/.terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/
			work/terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/`,
		installs: "work/terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/",
	},
	"order of implied directories outside": {
		env: []string{"XDG_DATA_DIRS=$ROOT/one"},
		packages: `
			one/terraform/plugins/$WIDGET/1.0.0/$PLATFORM/
			home/.local/share/terraform/plugins/$WIDGET/1.0.0/$PLATFORM/
			home/.terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/`,
		installs: "home/.terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/",
	},
	"old version hides the registry": {
		needs:    "$WIDGET >= 1.1.0",
		packages: "home/.terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/",
		fails:    "no available releases match the given constraints >= 1.1.0",
	},
	"another platform's package hides the registry": {
		packages: "home/.terraform.d/plugins/$WIDGET/1.0.0/plan9_mips/",
		fails:    "v1.0.0 for $PLATFORM was not found in any of the search locations",
		theirs:   "$WIDGET v1.0.0 does not have a package available for",
	},
	"other providers hide nothing": {
		packages: "home/.terraform.d/plugins/$GADGET/1.0.0/$PLATFORM/",
		installs: "registry/2.0.0",
	},
	"layout of long ago": {
		packages: "home/.terraform.d/plugins/$PLATFORM/terraform-provider-widget_v1.0.0/",
		installs: "registry/2.0.0",
	},
	"a block leaves no implied directories": {
		cli:      `provider_installation { direct {} }`,
		packages: "home/.terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/\nwork/terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/",
		installs: "registry/2.0.0",
	},
	"working directory and -chdir": {
		chdir: true,
		comes: "work/terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/",
	},
	"-plugin-dir and -chdir": {
		chdir: true,
		args:  "-plugin-dir=../a",
		comes: "a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"-plugin-dir twice": {
		needs:    "$WIDGET\n$GADGET",
		args:     "-plugin-dir=$ROOT/a -plugin-dir=../b",
		packages: "a/$WIDGET/1.0.0/$PLATFORM/\nb/$WIDGET/1.0.0/$PLATFORM/\nb/$GADGET/1.0.0/$PLATFORM/",
		installs: "b/$GADGET/1.0.0/$PLATFORM/ a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"-plugin-dir replaces the block": {
		cli:      fromAOrOrigin,
		args:     "-plugin-dir=$ROOT/b",
		packages: "a/$WIDGET/1.1.0/$PLATFORM/\nb/$WIDGET/1.0.0/$PLATFORM/",
		installs: "b/$WIDGET/1.0.0/$PLATFORM/",
	},
	"-plugin-dir leaves no registry and no implied directory": {
		args:     "-plugin-dir=$ROOT/a",
		packages: "a/$GADGET/1.0.0/$PLATFORM/\nwork/terraform.d/plugins/$WIDGET/1.1.0/$PLATFORM/",
		fails:    notFound,
	},
	"empty -plugin-dir": {
		args:     "-plugin-dir=",
		files:    files{"work/.terraform/plugin_path": "[\n  \"$ROOT/a\"\n]"},
		installs: "registry/2.0.0",
	},
	"recorded -plugin-dir": {
		files:    files{"work/.terraform/plugin_path": "[\n  \"$ROOT/a\"\n]"},
		packages: "a/$WIDGET/1.0.0/$PLATFORM/",
		installs: "registry/2.0.0",
	},
}
