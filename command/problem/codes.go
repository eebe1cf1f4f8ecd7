package problem

import (
	"fmt"
	"slices"
	"strings"
)

// Code is a kind of error, as programs and documents name it. docs/troubleshooting.md has the cause and the cure of each.
type Code struct {
	Name string // "no_space"; it doesn't change

	// Summaries are beginnings of the headlines of problems that packages of the engine make, or several commands,
	// and that have this code unless the error behind them has one of its own.
	Summaries []string
}

// Coded is the Extra of a problem that says its own code.
type Coded string

// CodedError is [Error] with a code, which has to be one of [Codes].
func CodedError(code, summary, detail string) *Problem {
	p := Error(summary, detail)
	p.Extra = Coded(code)
	return p
}

// CodedWarning is [Warning] with a code, which has to be one of [Codes].
func CodedWarning(code, summary, detail string) *Problem {
	p := Warning(summary, detail)
	p.Extra = Coded(code)
	return p
}

// Errorf is [CodedError] with a detail as fmt.Sprintf makes it.
func Errorf(code, summary, format string, args ...any) *Problem {
	return CodedError(code, summary, fmt.Sprintf(format, args...))
}

// Warningf is [CodedWarning] with a detail as fmt.Sprintf makes it. The code "" is none.
func Warningf(code, summary, format string, args ...any) *Problem {
	p := Warning(summary, fmt.Sprintf(format, args...))
	if code != "" {
		p.Extra = Coded(code)
	}
	return p
}

// Fail returns an error that stands alone.
func Fail(code, summary, format string, args ...any) List {
	return List{Errorf(code, summary, format, args...)}
}

// Warn returns a warning that stands alone.
func Warn(code, summary, format string, args ...any) List {
	return List{Warningf(code, summary, format, args...)}
}

// Caused is the Extra of a problem that an error is behind.
type Caused struct {
	Err  error
	Code Coded // if the error has none
}

// Because returns the problem with the error that is behind it, whose code it gets if the error has one.
func Because(err error, p *Problem) *Problem {
	caused := *p
	own, _ := p.Extra.(Coded)
	caused.Extra = Caused{err, own}
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
	{Name: "invalid_answer"},
	{Name: "no_service", Summaries: []string{"Invalid provider registry host"}},
	{Name: "not_https"},
	{Name: "offline", Summaries: []string{"Module not known offline"}},
	{Name: "proxy_failed"},
	{Name: "rate_limited"},
	{Name: "request_failed"},
	{Name: "server_failed"},
	{Name: "service_version"},
	{Name: "source_directory"},
	{Name: "stalled"},
	{Name: "timeout"},
	{Name: "too_large"},
	{Name: "too_slow"},
	{Name: "unauthorized"},
	{Name: "unreachable", Summaries: []string{"Error accessing remote module registry",
		"Failed to query available provider packages", "Failed to resolve provider packages", "Invalid package location from module registry"}},
	{Name: "untrusted_certificate"},
}

var packageCodes = []Code{
	{Name: "bucket"},
	{Name: "built_in_provider"},
	{Name: "checksum_list_mismatch"},
	{Name: "checksum_mismatch"},
	{Name: "failed", Summaries: []string{"Failed to install provider"}},
	{Name: "incompatible_protocol"},
	{Name: "invalid_address", Summaries: []string{"Invalid provider source", "Invalid legacy provider address",
		"Invalid provider type", "Invalid provider namespace", "Invalid provider source hostname"}},
	{Name: "invalid_package"},
	{Name: "invalid_signature"},
	{Name: "lock_mismatch"},
	{Name: "locked_version"},
	{Name: "mirror_index"},
	{Name: "no_matching_version"},
	{Name: "not_cached"},
	{Name: "package_damaged"},
	{Name: "package_not_found"},
	{Name: "platform_missing"},
	{Name: "provider_not_found"},
	{Name: "refused_by_policy"},
	{Name: "unknown_signer"},
	{Name: "version_not_found", Summaries: []string{"Invalid provider version"}},
}

var moduleCodes = []Code{
	{Name: "invalid_module_source", Summaries: []string{"Invalid module source address",
		"Invalid registry module source address"}},
	{Name: "module_changed"},
	{Name: "module_not_found", Summaries: []string{"Module not found", "Module has no versions"}},
	{Name: "module_not_installed", Summaries: []string{"Module not installed", "Module source has changed",
		"Module version requirements have changed"}},
	{Name: "module_package_failed", Summaries: []string{"Failed to download module"}},
	{Name: "module_package_not_found", Summaries: []string{"Unreadable module directory", "Unreadable module subdirectory", "Failed to expand subdir globs"}},
	{Name: "module_record", Summaries: []string{"Failed to read the record of modules"}},
	{Name: "no_module_version", Summaries: []string{"Unresolvable module version constraint"}},
}

var writtenCodes = []Code{
	{Name: "other_backend", Summaries: []string{"State is moved by "}},
	{Name: "backend_configuration", Summaries: []string{"Invalid backend configuration", "Unsupported backend type",
		"Invalid workspaces configuration"}},
	{Name: "backend_record"},
	{Name: "cli_configuration", Summaries: []string{"Invalid CLI configuration", "Unable to open CLI configuration file",
		"Unable to read CLI configuration file", "Invalid provider_installation", "Invalid provider source inclusion patterns",
		"Invalid provider source exclusion patterns", "Invalid URL for provider installation source", "Duplicate ",
		"Conflicting provider_installation", "Invalid provider dev_overrides", "Can't search for providers",
		"Can't make an HTTP client"}},
	{Name: "configuration_not_found", Summaries: []string{"Test directory does not exist"}},
	{Name: "invalid_configuration", Summaries: []string{"Variables not allowed", "Terraform encountered problems during initialisation",
		"OpenTofu encountered problems during initialisation", "Failed to read file", "Failed to read module directory",
		"Failed to read test directory", "Failed to read variables file", "Value for undeclared variable", "Too many modules"}},
	{Name: "invalid_option", Summaries: []string{"Too many command line arguments", "Invalid value of -",
		"No output directory specified", "The -"}},
	{Name: "invalid_policy", Summaries: []string{"Invalid policy", "Failed to read the policy"}},
	{Name: "invalid_variable", Summaries: []string{"Invalid value of "}},
	{Name: "lock_file", Summaries: []string{"Dependency locks for modules"}},
	{Name: "lock_file_outdated"},
	{Name: "required_version", Summaries: []string{"Unsupported Terraform Core version", "Unsupported OpenTofu Core version", "Incompatible module"}},
	{Name: "workspace"},
}

var machineCodes = []Code{
	{Name: "cache_failed"},
	{Name: "file_lock_held"},
	{Name: "interrupted", Summaries: []string{"Interrupted", "Canceled", "Module installation was canceled",
		"Reading the configuration was interrupted"}},
	{Name: "no_space"},
	{Name: "serve_failed"},
	{Name: "state", Summaries: []string{"Error loading state"}},
	{Name: "symlink"},
	{Name: "terraform_too_old"},
	{Name: "unwritable", Summaries: []string{"Failed to write "}},
	{Name: "vendored"},
}
