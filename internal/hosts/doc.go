// Package hosts deals with the hosts that offer Terraform-native services:
// their names, what they offer, and the HTTP client that talks to them.
//
//	client, err := hosts.NewClient(hosts.ClientOptions{Retries: 1, CertFile: "ca.pem"})
//	discovery := &hosts.Discovery{Client: client} // and Credentials, if there are tokens
//	base, err := discovery.Service(ctx, "registry.example.com", "providers.v1")
//
// # The client
//
// NewClient builds the one client of a program. A request goes through a stack of
// functions, from the caller down to the network, and an error is explained on its way back:
//
//	user agent -> retries -> log -> stall guard -> transport
//
// Redirects are followed above the stack, so each hop has its own retries. No
// time limit covers a whole transfer: connecting, the TLS handshake, waiting
// for the header and waiting for each further byte of a body have one each.
// So the same client serves metadata and archives of any size. Archives have
// connections of their own, over HTTP/1.1 ([WithOwnConnection]).
//
// NewOfflineClient builds one that sends nothing, for runs without network.
//
// Do and GetDocument are the ways to use it. Their errors and everything that
// is logged are redacted: no userinfo, no query values, no headers.
//
// # Where tokens go
//
// A token belongs to a host name and its port ([Credentials]). It is sent to
// that host's discovery document, to the services that the document declares,
// wherever they are, and to the documents of a network mirror on that host
// ([Authorize]). It is never sent where others could read along
// ([Confidential]), and no redirect takes it to another origin, nor back from
// one. Archives have it only where the user asked for that, and they lie at
// the origin that described them ([WithArchiveCredentials]).
//
// # Service discovery
//
// Discovery maps a host and a service to a base URL, by the document at
// https://HOST/.well-known/terraform.json. It is asked for once for each host
// and process; failures are not remembered.
//
// Where this package differs from Terraform: requests for discovery
// documents are retried like all others, waiting as long as Retry-After
// asks but 30 seconds at most. It sends tokens to plain http services, and
// with redirects to subdomains, to other ports and to plain http; none of that
// happens here. A discovery document that was redirected over plain http is an
// error where there is a token for its host, or may be one because a helper
// failed: its author could have the token. A document that is just null is an error, too, not a host
// without services.
//
// The package doesn't read the environment, except that the transport takes
// its proxy from HTTPS_PROXY, HTTP_PROXY and NO_PROXY as net/http does, and
// on systems other than macOS and Windows crypto/x509 reads SSL_CERT_FILE and
// SSL_CERT_DIR. It never writes to disk and never sends a request by itself.
package hosts
