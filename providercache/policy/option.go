package policy

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

// ParseRule reads one rule in the form of an option, NAME=VALUE: "minimum_trust=partner", "minimum_age=72h",
// "refuse_downgrades=true", "allow_overrides=false", or with commas between the values "sources=",
// "providers=" and "lock_platforms=". ok is false if given doesn't have that form. option is the option's
// name, for messages. If a problem with the value is an error, the Policy must not be used.
func ParseRule(given, option string, product getproviders.Product) (p Policy, diags hcl.Diagnostics, ok bool) {
	name, value, ok := strings.Cut(given, "=")
	r := reader{product: product.OrDefault()}
	for _, rule := range arguments {
		if ok && rule.name == name {
			rule.read(&r, &hcl.Attribute{Expr: optionText{text: value}, Range: hcl.Range{Filename: option + "=" + given}})
			return r.made, r.diags, true
		}
	}
	return Policy{}, nil, false
}
