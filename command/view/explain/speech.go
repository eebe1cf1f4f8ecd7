package explain

import "github.com/tfdeps/tfdeps/getproviders"

// Speech is how a product says what Terraform and OpenTofu say differently.
type Speech struct {
	UI      string // the version of its lines in JSON, to which tfdeps adds keys
	Untyped bool   // those lines have neither type nor code, and the words that people read
	Gaps    bool   // an empty line stands before each phase, and after each problem

	Cloud, InCloud string // the service of a cloud block, as a sentence begins and as it goes on
	Placed         string // what programs read of a module that is in its place; "": the words for people
	BackendStop    string // what ends the sentence about a configured backend, for programs

	Keyless              bool   // packages of its own registry may have no key
	Community            string // the trust in a package whose signer the product doesn't know
	Signers, SigningPage string // who signs packages, and where that is explained

	unresolved [2]string // the summary, and what it couldn't do, where no version of a provider can be chosen
}

// speeches are those of each product, by its program.
var speeches = map[string]Speech{
	"terraform": {
		UI:    "1.3",
		Cloud: "HCP Terraform", InCloud: "HCP Terraform", BackendStop: ".",
		Community: getproviders.LevelCommunity.String(),
		Signers:   "Partner and community providers", SigningPage: "https://developer.hashicorp.com/terraform/cli/plugins/signing",
		unresolved: notListed,
	},
	"tofu": {
		UI: "1.2", Untyped: true, Gaps: true,
		Cloud: "Cloud backend", InCloud: "cloud backend", Placed: "installing ",
		Keyless: true, Community: "signed",
		Signers: "Providers", SigningPage: "https://opentofu.org/docs/cli/plugins/signing/",
		unresolved: [2]string{"Failed to resolve provider packages", "Could not resolve"},
	},
}

// notListed is what both products say where a provider isn't where it was looked for.
var notListed = [2]string{"Failed to query available provider packages", "Could not retrieve the list of available versions for"}

// SpeechOf returns how a product speaks.
func SpeechOf(product getproviders.Product) Speech { return speeches[product.Program] }
