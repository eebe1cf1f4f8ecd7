package problem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// CodedError is [Error] with a code, which has to be one of docs/troubleshooting.md or "".
func CodedError(code, summary, detail string) *Problem {
	p := Error(summary, detail)
	p.Extra = Caused{Code: code}
	return p
}

// Errorf is [CodedError] with a detail as fmt.Sprintf makes it.
func Errorf(code, summary, format string, args ...any) *Problem {
	return CodedError(code, summary, fmt.Sprintf(format, args...))
}

// Warningf is Errorf for a warning; with the code "" it has none.
func Warningf(code, summary, format string, args ...any) *Problem {
	p := Errorf(code, summary, format, args...)
	p.Severity = hcl.DiagWarning
	return p
}

// Fail returns an error that stands alone.
func Fail(code, summary, format string, args ...any) List {
	return List{Errorf(code, summary, format, args...)}
}

// Failed is Fail with an error's text as the detail.
func Failed(code, summary string, err error) List { return Fail(code, summary, "%s", Sentence(err)) }

// Unsaved is Failed for what can't be written.
func Unsaved(code, summary string, err error) List { return Fail(code, summary, "%s", Unwritten(err)) }

// Warn returns a warning that stands alone.
func Warn(code, summary, format string, args ...any) List {
	return List{Warningf(code, summary, format, args...)}
}

// Caused is the Extra of a problem that an error is behind, or that says its own code.
type Caused struct {
	Err  error  // nil: there is none
	Code string // if the error has none
}

// Because returns the problem with the error that is behind it, whose code it gets if the error has one.
func Because(err error, p *Problem) *Problem {
	caused := *p
	own, _ := p.Extra.(Caused)
	caused.Extra = Caused{err, own.Code}
	return &caused
}

// OfSummary returns the code of problems with a headline; "" if no row of the table has it.
func OfSummary(summary string) string {
	for _, row := range summaries {
		if slices.ContainsFunc(row[1:], func(begin string) bool { return strings.HasPrefix(summary, begin) }) {
			return row[0]
		}
	}
	return ""
}

// summaries has beginnings of the headlines of problems that packages of the engine make, or several commands, each behind the code that
// these have, unless the error behind them has one of its own. What else has a code says so. docs/troubleshooting.md lists all codes, which
// don't change, with the cause and the cure of each.
var summaries = [][]string{
	{"credentials_helper_not_found", "Credentials helper not found"},
	{"no_service", "Invalid provider registry host"},
	{"offline", "Module not known offline"},
	{"unreachable", "Error accessing remote module registry", "Failed to query available provider packages",
		"Failed to resolve provider packages", "Invalid package location from module registry"},
	{"failed", "Failed to install provider"},
	{"invalid_address", "Invalid provider source", "Invalid legacy provider address", "Invalid provider type", "Invalid provider namespace",
		"Invalid provider source hostname"},
	{"refused_by_policy", "Module refused by policy"},
	{"version_not_found", "Invalid provider version"},
	{"invalid_module_source", "Invalid module source address", "Invalid registry module source address"},
	{"module_not_found", "Module not found", "Module has no versions"},
	{"module_not_installed", "Module not installed", "Module source has changed", "Module version requirements have changed"},
	{"module_package_failed", "Failed to download module"},
	{"module_package_not_found", "Unreadable module directory", "Unreadable module subdirectory", "Failed to expand subdir globs"},
	{"module_record", "failed to read module manifest"},
	{"no_module_version", "Unresolvable module version constraint"},
	{"backend_configuration", "Invalid backend configuration", "Unsupported backend type", "Invalid workspaces configuration"},
	{"cli_configuration", "Invalid CLI configuration", "Unable to open CLI configuration file", "Unable to read CLI configuration file",
		"Invalid provider_installation", "Invalid provider source inclusion patterns", "Invalid provider source exclusion patterns",
		"Invalid URL for provider installation source", "Duplicate ", "Can't make an HTTP client"},
	{"configuration_not_found", "Test directory does not exist"},
	{"invalid_configuration", "Variables not allowed", "Terraform encountered problems during initialisation", "Failed to read file",
		"Failed to read module directory", "Failed to read test directory", "Failed to read variables file", "Value for undeclared variable",
		"Too many modules"},
	{"invalid_option", "Too many command line arguments", "Invalid value of -", "No output directory specified", "The -"},
	{"invalid_policy", "Invalid policy", "Failed to read the policy"},
	{"invalid_variable", "Invalid value of "},
	{"lock_file", "Dependency locks for modules"},
	{"required_version", "Unsupported Terraform Core version", "Unsupported OpenTofu Core version", "Incompatible module"},
	{"interrupted", "Interrupted", "Module installation was canceled", "Reading the configuration was interrupted"},
	{"state", "Error loading state"},
	{"unwritable", "Failed to write "},
}
