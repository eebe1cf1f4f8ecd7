package hosts

import (
	"errors"
	"fmt"
	"strings"
)

// Fault is a failure of a request, or on the way to one, with what programs and people want to know of it. Its text is
// that of Err, and it matches Kind and what Err matches.
type Fault struct {
	ID     string // as Code
	Kind   error  // one of the Err values of this package; nil: it matches what Err does
	Err    error  // what went wrong, in words; of a request without an answer the network's own error
	Advice string // what may be wrong and what to do, without secrets; "": that isn't known
	Common string // as Shared
}

// Error implements error.
func (f *Fault) Error() string { return f.Err.Error() }

// Code names the failure for programs: "host_not_found".
func (f *Fault) Code() string { return f.ID }

// Hint says what may be wrong, and what to do.
func (f *Fault) Hint() string { return f.Advice }

// Shared tells apart what several requests fail for; "": it is about one of them.
func (f *Fault) Shared() string { return f.Common }

// Unwrap returns Kind and Err.
func (f *Fault) Unwrap() []error {
	if f.Kind == nil {
		return []error{f.Err}
	}
	return []error{f.Kind, f.Err}
}

// Timeout reports whether time ran out, as net.Error has it.
func (f *Fault) Timeout() bool {
	var t interface{ Timeout() bool }
	return f.Kind == errTooSlow || errors.As(f.Err, &t) && t.Timeout()
}

// What callers of Discovery.Service branch on, with errors.Is.
var (
	// ErrNoService: the host answered, and doesn't have that service.
	ErrNoService = errors.New("host does not offer the service")
	// ErrServiceVersion: the host has the service, in other versions only.
	ErrServiceVersion = errors.New("host does not offer this version of the service")
	// ErrUnauthorized: a server wants credentials, or others: 401 or 403.
	ErrUnauthorized = errors.New("not authorized")
	// ErrHostUnreachable: no connection, no complete answer, or another status that isn't success.
	ErrHostUnreachable = errors.New("host unreachable or failing")
	// ErrDiscoveryDocument: the host answered with something that isn't a valid discovery document.
	ErrDiscoveryDocument = errors.New("invalid discovery document")
)

// ErrPlainHTTP says that metadata would come by http from another machine, though the
// user asked for https.
var ErrPlainHTTP = errors.New("it is at plain http, where anyone on the way could replace what it says")

// DiscoveryError says why a service of a host can't be used. It is all of
// Kind and its cause for errors.Is and errors.As.
type DiscoveryError struct {
	Host     Hostname
	Service  string   // "providers.v1"
	Kind     error    // one of ErrNoService, ErrServiceVersion, ErrUnauthorized, ErrHostUnreachable, ErrDiscoveryDocument
	Offered  []string // with ErrServiceVersion: what the host has instead, such as "providers.v2"; sorted
	Attempts int      // with ErrHostUnreachable and ErrUnauthorized: how often the failing request was made; 0: not at all
	// With ErrHostUnreachable and ErrUnauthorized, if the host did answer: what it
	// answered instead of 200 or 404, and whether it had been given credentials.
	StatusCode int
	Authorized bool
	Err        error // the cause; may be nil with ErrNoService and ErrServiceVersion
}

// Error implements error.
func (e *DiscoveryError) Error() string {
	switch e.Kind {
	case ErrNoService:
		return fmt.Sprintf("host %s does not offer the service %s", e.Host, e.Service)
	case ErrServiceVersion:
		return fmt.Sprintf("host %s does not offer the service %s%s, but may be compatible with a different Terraform version",
			e.Host, e.Service, e.instead())
	case ErrDiscoveryDocument:
		return fmt.Sprintf("host %s has an invalid discovery document: %v", e.Host, e.Err)
	default:
		return fmt.Sprintf("could not connect to %s: failed to request discovery document: %v", e.Host, e.Err)
	}
}

// Code names the problem for programs: "no_service", "service_version",
// "unauthorized", "discovery_document" or "unreachable".
func (e *DiscoveryError) Code() string {
	switch e.Kind {
	case ErrNoService:
		return "no_service"
	case ErrServiceVersion:
		return "service_version"
	case ErrUnauthorized:
		return "unauthorized"
	case ErrDiscoveryDocument:
		return "discovery_document"
	default:
		return "unreachable"
	}
}

func (e *DiscoveryError) instead() string {
	switch {
	case e.Err != nil:
		return " (" + e.Err.Error() + ")"
	case len(e.Offered) > 0:
		return " (only " + strings.Join(e.Offered, ", ") + ")"
	default:
		return ""
	}
}

// Unwrap returns Kind and the cause.
func (e *DiscoveryError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}
