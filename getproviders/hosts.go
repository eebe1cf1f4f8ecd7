package getproviders

import (
	"log/slog"
	"net/http"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

type (
	// Hostname is the name of a host as people write it, with a port if it isn't 443: "registry.example.com".
	Hostname = hosts.Hostname
	// Discovery finds the services of hosts, and caches them. The zero value uses the engine's own client. Its fields are
	// Client, Credentials, Forced (services that need no request) and MaxAge. Sources that share one Discovery ask each host
	// once.
	Discovery = hosts.Discovery
	// Credentials returns the token for a host, or "" for none.
	Credentials = hosts.Credentials
)

// ClientOptions configure a client of NewClient. The zero value works.
type ClientOptions struct {
	UserAgent string       // sent with every request that has none; "" adds none
	Retries   int          // how often a failed request is tried again; 0 means never
	Log       *slog.Logger // gets one debug record for each attempt, without secrets; nil means no log

	// Base sends each attempt; nil means a transport with the environment's proxy and all timeouts. An *http.Transport is
	// copied and gets those timeouts; set other proxies, certificates and dialers in it.
	Base http.RoundTripper
}

// ParseHostname reads the name of a host, with or without a port. The error says what is wrong with it.
func ParseHostname(given string) (Hostname, error) { return hosts.ParseHostname(given) }

// NewStaticTokens returns Credentials with a fixed token for each host.
func NewStaticTokens(tokens map[Hostname]string) Credentials { return hosts.NewStaticTokens(tokens) }

// NewClient returns a client with the engine's timeouts, limits and retries.
func NewClient(o ClientOptions) (*http.Client, error) {
	return hosts.NewClient(hosts.ClientOptions{UserAgent: o.UserAgent, Retries: o.Retries, Log: o.Log, Base: o.Base})
}
