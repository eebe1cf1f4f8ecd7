package problem

import (
	"slices"
	"strings"
)

// Code is a kind of error, as programs and documents name it. docs/troubleshooting.md has the cause and the cure of each.
type Code struct {
	Name string // "no_space"; it doesn't change

	// Summaries are beginnings of the headlines of problems that have this code unless the error
	// behind them has one of its own.
	Summaries []string
}

// Coded is the Extra of a problem that says its own code.
type Coded string

// WithCode returns the problem with a code, which has to be one of [Codes].
func WithCode(name string, p *Problem) *Problem {
	coded := *p
	coded.Extra = Coded(name)
	return &coded
}

// Caused is the Extra of a problem that an error is behind.
type Caused struct{ Err error }

// Because returns the problem with the error that is behind it, whose code it gets.
func Because(err error, p *Problem) *Problem {
	caused := *p
	caused.Extra = Caused{err}
	return &caused
}

// OfSummary returns the code of problems with a headline; "" if no row of [Codes] has it.
func OfSummary(summary string) string {
	for _, code := range Codes() {
		if slices.ContainsFunc(code.Summaries, func(begin string) bool { return strings.HasPrefix(summary, begin) }) {
			return code.Name
		}
	}
	return ""
}

// Codes is the table of all codes, sorted by topics: what was asked for over a network, packages, modules, what
// the user wrote, this machine.
func Codes() []Code {
	return slices.Concat(networkCodes, packageCodes, moduleCodes, writtenCodes, machineCodes)
}

var networkCodes = []Code{
	{Name: "connection_refused"},
	{Name: "credentials_helper_not_found", Summaries: []string{"Credentials helper not found"}},
	{Name: "discovery_document"},
	{Name: "host_not_found"},
	{Name: "no_service", Summaries: []string{"Invalid provider registry host"}},
	{Name: "not_https"},
	{Name: "offline", Summaries: []string{"Module not known offline"}},
	{Name: "proxy_failed"},
	{Name: "rate_limited"},
	{Name: "request_failed"},
	{Name: "server_failed"},
	{Name: "service_version"},
	{Name: "stalled"},
	{Name: "timeout"},
	{Name: "too_large"},
	{Name: "too_slow"},
	{Name: "unauthorized"},
	{Name: "unreachable", Summaries: []string{"Error accessing remote module registry", "Failed to query available provider packages",
		"Failed to ask ", "Invalid package location from module registry"}},
	{Name: "untrusted_certificate"},
}

var packageCodes = []Code{
	{Name: "bucket", Summaries: []string{"Invalid URL of a bucket", "Invalid URL of a registry"}},
	{Name: "built_in_provider", Summaries: []string{"Invalid dependency on built-in provider"}},
	{Name: "checksum_list_mismatch"},
	{Name: "checksum_mismatch"},
	{Name: "failed", Summaries: []string{"Failed to install provider"}},
	{Name: "incompatible_protocol"},
	{Name: "invalid_address", Summaries: []string{"Invalid provider source", "Invalid provider argument",
		"Invalid legacy provider address", "Invalid provider type", "Invalid provider namespace", "Invalid provider source hostname"}},
	{Name: "invalid_package", Summaries: []string{"Failed to hash a package"}},
	{Name: "invalid_signature"},
	{Name: "lock_mismatch"},
	{Name: "locked_version", Summaries: []string{"Inconsistent dependency lock file"}},
	{Name: "mirror_index", Summaries: []string{"Failed to update indexes", "Failed to write the mirror"}},
	{Name: "no_matching_version"},
	{Name: "not_cached", Summaries: []string{"Not all providers are on this machine", "A package that isn't there can't be fetched"}},
	{Name: "package_not_found", Summaries: []string{"Provider package not found", "No such package in the cache",
		"Failed to look for packages", "Provider not available"}},
	{Name: "platform_missing", Summaries: []string{"Incompatible provider version"}},
	{Name: "provider_not_found"},
	{Name: "refused_by_policy", Summaries: []string{"A lock file isn't good for the required platforms"}},
	{Name: "unknown_signer"},
	{Name: "version_not_found", Summaries: []string{"Invalid provider version"}},
}
