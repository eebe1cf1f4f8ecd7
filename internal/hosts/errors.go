package hosts

import (
	"errors"
	"fmt"
	"strings"
)

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
