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
// Every part may be left out, and then refuses nothing.
//
//  1. sources: a package has to come from one of them. Each is the name of a registry, wherever its service
//     is, which is also that of the host of https URLs; the URL of a mirror, of which everything below it counts; or the directory of one. A
//     bucket of another service than the scheme's own has the parameter endpoint.
//
//  2. providers: patterns as in a CLI configuration. A provider has to match one of them.
//
//  3. minimum_trust: "verified_checksum", "community", "partner" or "official". A package
//     of which less is known is refused.
//
//  4. refuse_downgrades: a version older than the one in the lock file is refused, and one that isn't locked
//     if it is older than the newest that is known here.
//
//  5. minimum_age: a package whose release is younger is refused, and so is one of whose
//     age nothing is known. Providers that match except may be of any age.
//
//  6. signed_by: a package of a provider that matches the label has to be signed by one of these
//     keys, whatever the registry says. Keys are named by their IDs: the last 16 hexadecimal
//     digits of the fingerprint; "hashicorp" stands for HashiCorp's own. If several labels match, each has to be satisfied.
//
//  7. lock_platforms: the lock file's entries have to be good for these platforms. [Policy.LockPlatforms] lists
//     them, for a caller to add what is missing, and [Policy.CheckLock] finds entries that can't be good for all.
//
//  8. allow_overrides: if it is false, a provider that comes by other means than a package, such as dev_overrides of the CLI
//     configuration, is refused. No other rule is about it. [Policy.CheckOverride] is for a caller to ask.
//
// [ParseRule] reads one rule from an option.
//
// Of several policies ([All]) every rule of each counts, so that one can only add
// to what another refuses. Values are immutable after they were made, and safe for
// many goroutines.
package policy
