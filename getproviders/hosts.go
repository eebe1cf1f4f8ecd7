package getproviders

import (
	"log/slog"
	"net/http"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

type (
	// Hostname is the name of a host as people write it: "registry.example.com", with a port if it isn't 443.
	Hostname = hosts.Hostname
	// Discovery finds the services of hosts, and remembers them. The zero value asks with the engine's own client. Its fields
	// are Client, Credentials, Forced (services that need no request) and MaxAge. Sources that share one ask each host once.
	Discovery = hosts.Discovery
	// Credentials answers with the token for a host; "" if there is none.
	Credentials = hosts.Credentials
)

// ClientOptions say what a client of NewClient does beyond Go's. The zero value works.
type ClientOptions struct {
	UserAgent string       // sent with every request unless the request has one; "": none is added
	Retries   int          // how often a request is tried again after a failure; 0: never
	Log       *slog.Logger // one debug record for each attempt, without secrets; nil: none

	// Base is what sends each attempt; nil: a transport with the proxy of the environment, and all limits of time. An
	// *http.Transport is copied and gets those limits; it is the place for other proxies, certificates and ways to connect.
	Base http.RoundTripper
}

// ParseHostname reads the name of a host, with or without a port. The error says what is wrong with it.
func ParseHostname(given string) (Hostname, error) { return hosts.ParseHostname(given) }

// NewStaticTokens are Credentials that never change: tokens, by host.
func NewStaticTokens(tokens map[Hostname]string) Credentials { return hosts.NewStaticTokens(tokens) }

// NewClient makes a client with all limits and retries of the engine.
func NewClient(o ClientOptions) (*http.Client, error) {
	return hosts.NewClient(hosts.ClientOptions{UserAgent: o.UserAgent, Retries: o.Retries, Log: o.Log, Base: o.Base})
}
