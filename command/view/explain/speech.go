package explain

import (
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Names are the names that texts of a run need.
type Names struct {
	getproviders.Product        // whose work is done
	Called               string // this program, by the name it was called by
}

// Expand returns a text with names in the place of $TFDEPS, which is this program, $PRODUCT, $PROGRAM, $CLOUD and $IN_CLOUD. $$ becomes $, and
// another word stays as it is.
func (n Names) Expand(text string) string {
	speech := SpeechOf(n.Product)
	words := map[string]string{
		"TFDEPS": n.Called, "PRODUCT": n.Name, "PROGRAM": n.Program, "CLOUD": speech.Cloud, "IN_CLOUD": speech.InCloud, "$": "$",
	}
	return os.Expand(text, func(word string) string {
		if name, ok := words[word]; ok {
			return name
		}
		return "$" + word
	})
}

// Speech has the texts of a product that Terraform and OpenTofu word differently.
type Speech struct {
	UI      string // the version of its lines in JSON, to which tfdeps adds keys
	Untyped bool   // those lines have neither type nor code, and the texts for people
	Gaps    bool   // an empty line before each phase, and after each problem

	Cloud, InCloud string // the service of a cloud block, at the beginning of a sentence and within one
	Placed         string // the prefix in JSON of an installed module; "" means as for people
	BackendStop    string // the end of the sentence about a configured backend, in JSON

	Keyless              bool   // packages of the product's own registry may have no key
	Community            string // the trust level of a package whose signer the product doesn't know
	Signers, SigningPage string // who signs packages, and the page that explains it

	unresolved [2]string // the summary and the sentence for a provider whose version can't be chosen
}

// speeches has the Speech of each product, by its program.
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

// notListed is the summary and the sentence of both products for a provider that its source doesn't have.
var notListed = [2]string{"Failed to query available provider packages", "Could not retrieve the list of available versions for"}

// SpeechOf returns the Speech of a product.
func SpeechOf(product getproviders.Product) Speech { return speeches[product.Program] }
