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
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// CodeOf names a problem for programs: by the error behind it, else as it says itself. Every error
// has a code; of warnings some have none.
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

// vague are codes that only say where something failed. What an inner error says counts more.
var vague = []string{"unreachable", "request_failed", "module_package_failed"}

// CodeOfError is the first code of an error and what it wraps that says more than where it failed;
// "" if there is none.
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

// ownCode is what an error has for a code without what it wraps. The step of an installation says only where that failed.
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

// statusCode is about answers that aren't what was hoped for.
func statusCode(err error) string {
	answer, ok := err.(interface{ HTTPStatus() int })
	if !ok {
		return ""
	}
	switch status := answer.HTTPStatus(); {
	case status == http.StatusNotFound, status == http.StatusGone:
		return "package_not_found"
	case status == http.StatusTooManyRequests:
		return "rate_limited"
	case status >= http.StatusInternalServerError:
		return "server_failed"
	}
	return ""
}

// Ordered are problems as they are shown: first those that belong to no file, in the order
// given, then the others by file and position, each of them once.
func Ordered(problems problem.List) problem.List {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, byPosition)
	return slices.CompactFunc(sorted, SameProblem)
}

func byPosition(a, b *problem.Problem) int {
	x, y := place(a), place(b)
	return cmp.Or(strings.Compare(x.Filename, y.Filename), x.Start.Byte-y.Start.Byte)
}

// place is where a problem is; those that belong to no file are before all others.
func place(p *problem.Problem) hcl.Range {
	if p.Subject == nil {
		return hcl.Range{Start: hcl.Pos{Byte: -1}}
	}
	return *p.Subject
}

// SameProblem reports whether two problems say the same of the same place.
func SameProblem(a, b *problem.Problem) bool {
	return place(a) == place(b) && a.Severity == b.Severity && a.Summary == b.Summary && a.Detail == b.Detail
}
