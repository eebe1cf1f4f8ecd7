package sources

// configFileCases are about the files of the CLI configuration.
var configFileCases = map[string]sourceCase{
	"credentials helper that isn't there": {
		cli:      `credentials_helper "test" {}`,
		warns:    "Credentials helper not found",
		theirs:   "successfully initialized",
		installs: "registry/2.0.0",
	},
	"JSON, all of it": {
		files: files{"home/.terraformrc": `{
			"host": {"tf.example.com": {"services": {"providers.v1": "$SERVICE"}}},
			"provider_installation": {
				"filesystem_mirror": [{"path": "$ROOT/a", "include": ["$GADGET"]}, {"path": "$ROOT/b", "exclude": ["$WIDGET"]}],
				"direct": [{"exclude": ["$GADGET"]}]
			}
		}`},
		needs:    "$WIDGET\n$GADGET",
		packages: "a/$GADGET/1.0.0/$PLATFORM/\nb/$GADGET/1.1.0/$PLATFORM/\nb/$WIDGET/9.0.0/$PLATFORM/",
		installs: "b/$GADGET/1.1.0/$PLATFORM/ registry/2.0.0",
	},
	"JSON, empty object for a method": {
		needs:    "$REGISTRY/acme/widget",
		files:    files{"home/.terraformrc": `{"provider_installation": {"direct": {}}}`},
		installs: "registry/2.0.0",
	},
	"files of the directory": {
		files: files{
			"home/.terraformrc":                  "",
			"home/.terraform.d/hosts.tfrc":       "$HOSTS",
			"home/.terraform.d/mirror.tfrc.json": `{"provider_installation": [{"direct": [{}]}]}`,
			"home/.terraform.d/unrelated.tf":     "}{",
			"home/.terraform.d/unrelated.tfrc~":  "}{",
		},
		packages: "home/.terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/",
		installs: "registry/2.0.0",
	},
	"later files replace hosts": {
		files: files{
			"home/.terraformrc":        `host "tf.example.com" { services = {} }`,
			"home/.terraform.d/a.tfrc": `host "tf.example.com" { services = { "providers.v1" = "https://localhost:1/" } }`,
			"home/.terraform.d/b.tfrc": "$HOSTS",
		},
		installs: "registry/2.0.0",
	},
	"TF_CLI_CONFIG_FILE": {
		env:      []string{"TF_CLI_CONFIG_FILE=$ROOT/cli.conf"},
		cli:      fromA,
		files:    files{"cli.conf": "$HOSTS provider_installation { direct {} }", "home/.terraform.d/x.tfrc": fromA},
		packages: "a/$WIDGET/1.0.0/$PLATFORM/",
		installs: "registry/2.0.0",
	},
	"relative TF_CLI_CONFIG_FILE and -chdir": {
		chdir: true,
		env:   []string{"TF_CLI_CONFIG_FILE=cli.conf"},
		files: files{"cli.conf": fromA},
		comes: "a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"TERRAFORM_CONFIG": {
		env:   []string{"TERRAFORM_CONFIG=$ROOT/cli.conf"},
		files: files{"cli.conf": fromA, "home/.terraform.d/x.tfrc": "provider_installation { direct {} }"},
		comes: "a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"TF_CLI_CONFIG_FILE before TERRAFORM_CONFIG": {
		env:   []string{"TERRAFORM_CONFIG=$ROOT/none", "TF_CLI_CONFIG_FILE=$ROOT/cli.conf"},
		files: files{"cli.conf": fromA},
		comes: "a/$WIDGET/1.0.0/$PLATFORM/",
	},
	"TF_CLI_CONFIG_FILE isn't there": {
		env:   []string{"TF_CLI_CONFIG_FILE=$ROOT/none"},
		warns: `"$ROOT/none" does not exist`,
		comes: "home/.terraform.d/plugins/$WIDGET/1.0.0/$PLATFORM/",
	},
	"provider_installation blocks in two files": {
		cli:      fromA,
		files:    files{"home/.terraform.d/x.tfrc": fromAThenB},
		packages: "a/$WIDGET/1.0.0/$PLATFORM/",
		fails:    "No more than one provider_installation block may be specified",
	},
}

// hostCases are about host blocks.
var hostCases = map[string]sourceCase{
	"relative URL": {
		needs:    "$REGISTRY/acme/widget",
		cli:      `host "$REGISTRY" { services = { "providers.v1" = "/v1/providers/" } }`,
		installs: "registry/2.0.0",
	},
	"no providers service": {
		files:  files{"home/.terraformrc": `host "tf.example.com" { services = { "modules.v1" = "https://localhost:1/" } }`},
		fails:  "does not offer the service providers.v1",
		theirs: "does not offer a Terraform provider registry",
	},
	"another version of the service": {
		files: files{"home/.terraformrc": `host "tf.example.com" { services = { "providers.v2" = "$SERVICE" } }`},
		fails: "may be compatible with a different Terraform version",
	},
	"URL without a slash": {
		files: files{"home/.terraformrc": `host "tf.example.com" { services = { "providers.v1" = "https://$REGISTRY/v1/providers" } }`},
		fails: "registry tf.example.com does not have a provider named $WIDGET",
	},
	"host in upper case": {
		files:    files{"home/.terraformrc": `host "TF.Example.COM" { services = { "providers.v1" = "$SERVICE" } }`},
		installs: "registry/2.0.0",
	},
	"discovery": {
		needs:    "$REGISTRY/acme/widget",
		installs: "registry/2.0.0",
	},
}

// unmanagedCases are about providers that come by other means.
var unmanagedCases = map[string]sourceCase{
	"TF_REATTACH_PROVIDERS, locked": {
		needs: "$WIDGET\n$GADGET",
		cli:   fromA,
		env:   []string{`TF_REATTACH_PROVIDERS={"$WIDGET": {"Protocol": "grpc", "ProtocolVersion": 5, "Pid": 1, "Test": true, "Addr": {"Network": "unix", "String": "$ROOT/s"}}}`},
		files: locking("1.0.0", wrongH1),
		comes: "a/$GADGET/1.0.0/$PLATFORM/",
	},
	"TF_REATTACH_PROVIDERS isn't JSON": {
		env:   []string{"TF_REATTACH_PROVIDERS=yes"},
		fails: "nvalid format for TF_REATTACH_PROVIDERS: invalid character 'y'",
	},
	"dev_overrides": {
		needs:    "$WIDGET\n$GADGET",
		cli:      `provider_installation { dev_overrides { "$WIDGET" = "$ROOT/dev" } filesystem_mirror { path = "$ROOT/a" } }`,
		packages: "a/$GADGET/1.0.0/$PLATFORM/\na/$WIDGET/1.0.0/$PLATFORM/",
		installs: "a/$GADGET/1.0.0/$PLATFORM/",
	},
	"dev_overrides, locked": {
		needs:    "$WIDGET\n$GADGET",
		cli:      `provider_installation { dev_overrides { "$WIDGET" = "$ROOT/dev" } filesystem_mirror { path = "$ROOT/a" } }`,
		files:    locking("1.0.0", packedH1("a/$WIDGET/1.0.0/$PLATFORM/")),
		packages: "a/$GADGET/1.0.0/$PLATFORM/\na/$WIDGET/1.0.0/$PLATFORM/",
		installs: "a/$GADGET/1.0.0/$PLATFORM/",
	},
}
