package explain

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// CodeOf returns the code of a problem for programs: that of its error, else its own. Every error
// has a code, and some warnings.
func CodeOf(p *problem.Problem) string {
	code, otherwise := "", "invalid_configuration"
	switch extra := p.Extra.(type) {
	case problem.Caused:
		code, otherwise = cmp.Or(CodeOfError(extra.Err), extra.Code), "failed"
	case modules.Unlocated:
		code = cmp.Or(CodeOfError(extra.Err), "module_package_failed")
	case modules.Outdated:
		code = "module_not_installed"
	case diagnostic.Code:
		code = string(extra)
	}
	if problem.IsWarning(p) {
		return code
	}
	return cmp.Or(code, otherwise)
}

// vague are codes that only say where something failed. The code of an inner error is preferred.
var vague = []string{"unreachable", "request_failed", "module_package_failed"}

// CodeOfError returns the first code of an error and of those that it wraps that isn't vague, else the first
// code, or "" without any.
func CodeOfError(err error) string {
	first := ""
	for _, part := range wrapped.All(err) {
		code := cmp.Or(statusCode(part), ownCode(part))
		if code != "" && !slices.Contains(vague, code) {
			return code
		}
		first = cmp.Or(first, code)
	}
	return first
}

// ownCode returns an error's code, without the errors that it wraps.
func ownCode(err error) string {
	switch e := err.(type) {
	case *getproviders.Fault:
		return e.Code
	case *getproviders.NotCachedError, *getproviders.SourcesError:
		return getproviders.CodeOf(err)
	case interface{ Code() string }:
		return e.Code()
	}
	return ""
}

// statusCode returns the code for an HTTP status that is an error.
func statusCode(err error) string {
	status := 0
	switch e := err.(type) {
	case *hosts.Fault:
		status = e.Status
	case *hosts.StatusError:
		status = e.StatusCode
	}
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		return "package_not_found"
	case status == http.StatusTooManyRequests:
		return "rate_limited"
	case status >= http.StatusInternalServerError:
		return "server_failed"
	}
	return ""
}

// Ordered returns problems as they are shown: first those that belong to no file, in the order
// given, then the others by file and position, without duplicates.
func Ordered(problems problem.List) problem.List {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, byPosition)
	return slices.CompactFunc(sorted, SameProblem)
}

func byPosition(a, b *problem.Problem) int {
	x, y := place(a), place(b)
	return cmp.Or(strings.Compare(x.Filename, y.Filename), x.Start.Byte-y.Start.Byte)
}

// place returns the range of a problem; problems that belong to no file sort first.
func place(p *problem.Problem) hcl.Range {
	if p.Subject == nil {
		return hcl.Range{Start: hcl.Pos{Byte: -1}}
	}
	return *p.Subject
}

// SameProblem reports whether two problems have the same texts, severity and place.
func SameProblem(a, b *problem.Problem) bool {
	return place(a) == place(b) && a.Severity == b.Severity && a.Summary == b.Summary && a.Detail == b.Detail
}
