// Package policy says which provider packages may be used, by rules in a file,
// tfdeps.hcl, that a repository or a machine has:
//
//	p, problems := policy.Load("tfdeps.hcl", getproviders.Terraform("1.15.9"))
//	fetcher.Policy = p.Hook(policy.HookOptions{}) // whose errors name the rule, the file and the line
//
// # The file
//
//	sources           = ["registry.terraform.io", "https://mirror.example.com/providers/"]
//	providers         = ["hashicorp/*", "example.com/acme/*"]
//	minimum_trust     = "community"
//	refuse_downgrades = true
//	lock_platforms    = ["linux_amd64", "darwin_arm64"]
//	allow_overrides   = false
//
//	minimum_age {
//	  age    = "72h"
//	  except = ["example.com/acme/*"]
//	}
//
//	signed_by "example.com/acme/*" {
//	  keys = ["34365D9472D7468F"]
//	}
//
//	versions "hashicorp/aws" {
//	  allow = ">= 5.90, != 6.2.1"
//	}
//
//	quarantine "hashicorp/random" {
//	  versions = ["3.7.0"]
//	  reason   = "loses state, see ticket 123"
//	  until    = "2026-12-31"
//	}
//
// Every part may be left out, and then refuses nothing. docs/policy.md says what each rule refuses. For callers:
//
//   - lock_platforms: [Policy.LockPlatforms] lists the platforms, for a caller to add what is missing, and [Policy.CheckLock] finds entries
//     that can't be good for all.
//   - allow_overrides: no other rule is about what comes by other means than a package. [Policy.CheckOverride] is for a caller to ask.
//   - versions, quarantine, sources, minimum_age and signed_by: [Policy.Choice] leaves versions out before one is chosen.
//
// [ParseRule] reads one rule from an option.
//
// Of several policies ([All]) every rule of each counts, so that one can only add
// to what another refuses. Values are immutable after they were made, and safe for
// many goroutines.
package policy
