// Package hosts handles hosts with Terraform-native services: their names, their services, and the
// HTTP client for them.
//
//	client, err := hosts.NewClient(hosts.ClientOptions{Retries: 1, CertFile: "ca.pem"})
//	discovery := &hosts.Discovery{Client: client} // and Credentials, if there are tokens
//	base, err := discovery.Service(ctx, "registry.example.com", "providers.v1")
//
// # The client
//
// NewClient returns the client of a program. A request goes through a stack of functions, and an
// error is explained on its way back:
//
//	user agent -> retries -> log -> stall guard -> transport
//
// Redirects are followed above the stack, so each hop has its own retries. No timeout covers a
// whole transfer: connecting, the TLS handshake, waiting for the header and waiting for each
// further byte of a body have one each. So the same client is for metadata and archives of any
// size. Archives have their own connections, over HTTP/1.1 ([WithOwnConnection]).
//
// NewOfflineClient returns a client that sends nothing, for offline runs.
//
// Do and GetDocument use a client. Their errors and the log are redacted: no userinfo, no query
// values, no headers.
//
// # Where tokens go
//
// A token belongs to a hostname and its port ([Credentials]). It is sent with requests for that
// host's discovery document, to the services that the document declares, on any host, and for the
// documents of a network mirror on that host ([Authorize]). It is never sent if others could read
// the request ([Confidential]), and no redirect sends it to another origin, or back. Requests for
// archives have it only if the user asked for that, and the archive is at the origin that described
// it ([WithArchiveCredentials]).
//
// # Service discovery
//
// Discovery maps a host and a service to a base URL, by the document at
// https://HOST/.well-known/terraform.json. It requests the document once for each host and process,
// and doesn't cache failures.
//
// Differences from Terraform: requests for discovery documents are retried like all others, after
// the time in Retry-After, but at most 30 seconds. Terraform sends tokens to plain http services,
// and with redirects to subdomains, to other ports and to plain http; none of that happens here. A
// discovery document that was redirected over plain http is an error: an attacker could send it, and
// with it get the host's token. A null document is an error, too, not a host without services.
//
// The package doesn't read the environment, except that the transport takes its proxy from
// HTTPS_PROXY, HTTP_PROXY and NO_PROXY as net/http does, and on systems other than macOS and Windows
// crypto/x509 reads SSL_CERT_FILE and SSL_CERT_DIR. It never writes to disk and never sends a
// request by itself.
package hosts
