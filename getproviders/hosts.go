package getproviders

import (
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
	// StaticTokens are Credentials that never change.
	StaticTokens = hosts.StaticTokens
	// ClientOptions say what an HTTP client for registries and archives does beyond Go's: retries, limits of time, proxies, certificates.
	ClientOptions = hosts.ClientOptions
	// Retry is a request that is going to be sent again, as ClientOptions.OnRetry gets it.
	Retry = hosts.Retry
)

// ParseHostname reads the name of a host, with or without a port. The error says what is wrong with it.
func ParseHostname(given string) (Hostname, error) { return hosts.ParseHostname(given) }

// NewStaticTokens copies tokens, by host.
func NewStaticTokens(tokens map[Hostname]string) *StaticTokens { return hosts.NewStaticTokens(tokens) }

// NewClient makes a client with all limits and retries of the engine.
func NewClient(o ClientOptions) (*http.Client, error) { return hosts.NewClient(o) }
