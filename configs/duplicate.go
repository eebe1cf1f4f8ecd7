package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// String names the declaration as a sentence can have it.
func (k key) String() string {
	switch {
	case k.block == "provider" && k.name == "":
		return fmt.Sprintf("default configuration of provider %q", k.typ)
	case k.block == "provider":
		return fmt.Sprintf("configuration of provider %q with the alias %q", k.typ, k.name)
	case k.block == "test provider":
		return key{"provider", k.typ, k.name}.String()
	case k.block == "local":
		return fmt.Sprintf("local value %q", k.name)
	case k.typ == "":
		return fmt.Sprintf("%s %q", k.block, k.name)
	}
	return fmt.Sprintf("%s %q %q", k.block, k.typ, k.name)
}

// duplicate is the problem that something was declared before, at first.
func duplicate(again declaration, first hcl.Range) *hcl.Diagnostic {
	var summary string
	switch again.block {
	case "variable":
		summary = "Duplicate variable declaration"
	case "output":
		summary = "Duplicate output definition"
	case "local":
		summary = "Duplicate local value definition"
	case "module":
		summary = "Duplicate module call"
	case "provider":
		summary = "Duplicate provider configuration"
	case "provider_meta":
		summary = "Duplicate provider_meta block"
	case "run":
		summary = `Duplicate "run" block names`
	case "variables":
		summary = `Multiple "variables" blocks`
	case "test provider":
		summary = "Duplicate provider block"
	case "check":
		summary = fmt.Sprintf("Duplicate check %q configuration", again.name)
	default:
		summary = fmt.Sprintf("Duplicate %s %q configuration", again.block, again.typ)
	}
	return Problem(again.rng, summary, "The %s is declared already at %s.", again.key, first)
}

// missing is the problem that an override file changes what isn't there. It is
// nil for what may be missing: it then changes nothing, or is new.
func missing(changed declaration) *hcl.Diagnostic {
	var summary string
	switch {
	case changed.block == "variable":
		summary = "Missing base variable declaration to override"
	case changed.block == "output":
		summary = "Missing base output definition to override"
	case changed.block == "local":
		summary = "Missing base local value definition to override"
	case changed.block == "module":
		summary = "Missing module call to override"
	case changed.block == "resource":
		summary = "Missing resource to override"
	case changed.block == "data":
		summary = "Missing data resource to override"
	case changed.block == "provider" && changed.name != "":
		summary = "Missing base provider configuration for override"
	default:
		return nil
	}
	return Problem(changed.rng, summary, "No primary file has the %s, so there is nothing to override.", changed.key)
}
