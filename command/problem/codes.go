package problem

import (
	"slices"
	"strings"
)

// Code is a kind of error, as programs and documents name it.
type Code struct {
	Name  string // "no_space"; it doesn't change
	Means string // the cause, as a sentence
	Cure  string // what to do, in sentences

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
	{Name: "connection_refused", Means: "No server listens at the address, or a firewall refuses the connection.",
		Cure: "Check host and port of the URL, and that the server runs."},
	{Name: "credentials_helper_not_found", Means: "The CLI configuration asks for a credentials helper that isn't installed.",
		Cure: "Install the program terraform-credentials-NAME in a plugins directory, or remove the block.", Summaries: []string{"Credentials helper not found"}},
	{Name: "discovery_document", Means: "The host answers service discovery with something that isn't a discovery document.",
		Cure: "Check the host in the address; a proxy or a login page may answer in its place."},
	{Name: "host_not_found", Means: "The name of a host can't be resolved.",
		Cure: "Check how it is written, and DNS, VPN and network. Where hosts are reached through a proxy only, set HTTPS_PROXY."},
	{Name: "no_service", Means: "The host in an address is no registry: service discovery knows nothing of providers or modules there.",
		Cure: "Check the host in the source address. The documentation of the provider says where it is published.", Summaries: []string{"Invalid provider registry host"}},
	{Name: "not_https", Means: "The server speaks http where https is asked for.", Cure: "Check scheme and port of the URL."},
	{Name: "offline", Means: "Something isn't on this machine, and an option forbids requests.",
		Cure: "Run once without -offline or -frozen; what is fetched is kept.", Summaries: []string{"Module not known offline"}},
	{Name: "proxy_failed", Means: "The proxy that HTTPS_PROXY or HTTP_PROXY names can't be reached, or refuses.",
		Cure: "Correct the variable, give a login in it, or exempt the host with NO_PROXY."},
	{Name: "rate_limited", Means: "The server limits how much is asked for in a while (429).", Cure: "Wait. Share a cache among directories, or use a mirror, to ask less."},
	{Name: "request_failed", Means: "A request got no answer, or only part of one.", Cure: "Try again. TF_LOG=debug shows every request."},
	{Name: "server_failed", Means: "The server answers with a fault of its own (5xx).", Cure: "Try again later; those who run the server have to mend it."},
	{Name: "service_version", Means: "The host offers another version of the registry protocol.", Cure: "A newer version of tfdeps may know it."},
	{Name: "stalled", Means: "A download stopped without an end.", Cure: "Run again: what has arrived is kept."},
	{Name: "timeout", Means: "The server took too long to begin its answer.", Cure: "Try again, or allow more seconds with TF_REGISTRY_CLIENT_TIMEOUT."},
	{Name: "too_large", Means: "An answer is larger than anything of its kind.", Cure: "Check the URL: it may be that of something else."},
	{Name: "too_slow", Means: "A download brings fewer bytes than TFDEPS_MIN_RATE asks for.", Cure: "Run again: what has arrived is kept. Or lower TFDEPS_MIN_RATE."},
	{Name: "unauthorized", Means: "A server wants credentials, or others than it got (401, 403).",
		Cure: "Set TF_TOKEN_<host>, or a credentials block of the CLI configuration; for archives, .netrc."},
	{Name: "unreachable", Means: "A source gave no answer that makes sense.", Cure: "Check the URL that the message names; TF_LOG=debug shows every request.",
		Summaries: []string{"Error accessing remote module registry", "Failed to query available provider packages", "Failed to ask ", "Invalid package location from module registry"}},
	{Name: "untrusted_certificate", Means: "The certificate of a server isn't trusted, has expired or is for another host.",
		Cure: "Have SSL_CERT_FILE name a file with the authority's certificate; the message says whether the file was read."},
}

var packageCodes = []Code{
	{Name: "bucket", Means: "A bucket, or an object in it, can't be read or written.", Cure: "The message has the service's words. Check the URL and the credentials.",
		Summaries: []string{"Invalid URL of a bucket"}},
	{Name: "built_in_provider", Means: "A built-in provider has a constraint, or an unknown name.",
		Cure: "Remove the constraint, or correct the address.", Summaries: []string{"Invalid dependency on built-in provider"}},
	{Name: "checksum_list_mismatch", Means: "What a registry says about a package contradicts its signed list of checksums.", Cure: "Don't use the package. Tell its publisher."},
	{Name: "checksum_mismatch", Means: "A package or an archive isn't the one that its source announced.", Cure: "Run again. If it stays so, tell those who run the source."},
	{Name: "failed", Means: "A step failed for a reason without a code of its own.", Cure: "The message has the reason.", Summaries: []string{"Failed to install provider"}},
	{Name: "incompatible_protocol", Means: "A version of a provider speaks no protocol that the product knows.", Cure: "Select the version that the message names."},
	{Name: "invalid_address", Means: "Something is no address of a provider.", Cure: "Write it as [HOST/]NAMESPACE/TYPE.",
		Summaries: []string{"Invalid provider source", "Invalid provider argument", "Invalid legacy provider address", "Invalid provider type", "Invalid provider namespace", "Invalid provider source hostname"}},
	{Name: "invalid_package", Means: "A package is no zip archive, or has what no package may have.", Cure: "Don't use it. Tell its publisher."},
	{Name: "invalid_signature", Means: "The signature of a checksum list is wrong.", Cure: "Don't use the package. If it happens again, tell its publisher; the message has key and list."},
	{Name: "lock_mismatch", Means: "A package has none of the hashes that the lock file records.",
		Cure: "If the lock file was made on another platform, run \"terraform providers lock\" with -platform. Else find out who changed the package."},
	{Name: "locked_version", Means: "The lock file selects a version that the configuration doesn't allow.", Cure: "Run init with -upgrade, or correct the constraint.",
		Summaries: []string{"Inconsistent dependency lock file"}},
	{Name: "mirror_index", Means: "A document of a mirror can't be read or written.", Cure: "Remove it, and fill the mirror again.",
		Summaries: []string{"Failed to update indexes", "Failed to write the mirror"}},
	{Name: "no_matching_version", Means: "No version satisfies all constraints.", Cure: "Change one of the constraints that the message lists."},
	{Name: "not_cached", Means: "A package isn't on this machine, and an option forbids requests.", Cure: "Run once where requests are allowed, with the same cache.",
		Summaries: []string{"Not all providers are on this machine", "A package that isn't there can't be fetched"}},
	{Name: "package_not_found", Means: "A package that a command is about isn't there.", Cure: "Check address, version and directory.",
		Summaries: []string{"Provider package not found", "No such package in the cache", "Failed to look for packages", "Provider not available"}},
	{Name: "platform_missing", Means: "A version of a provider has no package for the platform.", Cure: "Select the version that the message names, or another platform.",
		Summaries: []string{"Incompatible provider version"}},
	{Name: "provider_not_found", Means: "No source has the provider.", Cure: "Check the source address, and the methods in the CLI configuration."},
	{Name: "refused_by_policy", Means: "A rule of a policy refuses a package.", Cure: "Select another one, or change the rule that the message names.",
		Summaries: []string{"A lock file isn't good for the required platforms"}},
	{Name: "unknown_signer", Means: "A checksum list is signed by a key that the registry doesn't name.", Cure: "Don't use the package. Its publisher has to add the key to the registry."},
	{Name: "version_not_found", Means: "A source doesn't have the version of a provider.", Cure: "Select one that it has, or run init with -upgrade.", Summaries: []string{"Invalid provider version"}},
}
