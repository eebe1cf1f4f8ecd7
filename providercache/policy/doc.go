// Package policy decides which provider packages may be used, by rules in a file, tfdeps.hcl, of a repository or a machine:
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
// Every part is optional. docs/policy.md says what each rule refuses. For callers:
//
//   - lock_platforms: [Policy.LockPlatforms] lists the platforms, so that a caller can add missing hashes, and [Policy.CheckLock] finds
//     entries that lack hashes of some platform.
//   - allow_overrides: callers ask [Policy.CheckOverride]. No other rule is about providers that don't come from a package.
//   - versions, quarantine, sources, minimum_age and signed_by: [Policy.Choice] leaves versions out before one is chosen.
//
// [ParseRule] reads one rule from an option.
//
// [All] joins policies: every rule of each applies, so a further policy can
// only refuse more. Values are immutable and safe for concurrent use.
package policy
