package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

// ParseRule reads one rule as an option has it, NAME=VALUE: "minimum_trust=partner",
// "minimum_age=72h", "refuse_downgrades=true", "allow_overrides=false", or with commas between the values "sources=", "providers="
// and "lock_platforms=". ok is false if given doesn't have that form. The option's name is for messages: what is
// wrong with the value is among the problems, and with an error among them the Policy must not be used.
func ParseRule(given, option string, product getproviders.Product) (p Policy, diags hcl.Diagnostics, ok bool) {
	name, value, ok := strings.Cut(given, "=")
	if !ok || !slices.Contains(optionRules, name) {
		return Policy{}, nil, false
	}
	r := reader{product: product}
	at := hcl.Range{Filename: option + "=" + given}
	values := strings.Split(value, ",")
	switch name {
	case "sources":
		r.allowSources(at, values)
	case "providers":
		r.add(name, at, allowProviders(r.parsePatterns(at, values)))
	case "minimum_trust":
		r.requireTrust(at, value)
	case "minimum_age":
		if age, ok := r.parseAge(at, value); ok {
			r.add(name, at, requireAge(age, nil))
		}
	case "lock_platforms":
		r.lockPlatforms(at, values)
	case ruleDowngrades, ruleOverrides:
		on, err := strconv.ParseBool(value)
		switch {
		case err != nil:
			r.problem(at, "%q is neither \"true\" nor \"false\".", value)
		case on && name == ruleDowngrades:
			r.add(name, at, refuseDowngrade)
		case !on && name == ruleOverrides:
			r.overrides = append(r.overrides, position(at))
		}
	}
	return Policy{rules: r.rules, platforms: r.platforms, overrides: r.overrides}, r.diags, true
}

// optionRules are the rules that an option can give.
var optionRules = []string{"sources", "providers", "minimum_trust", "minimum_age", ruleDowngrades, "lock_platforms", ruleOverrides}
