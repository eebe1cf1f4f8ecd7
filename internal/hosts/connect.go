package hosts

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"golang.org/x/net/http/httpproxy"

	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// Why a host gave no answer, for errors.Is.
var (
	// ErrCertificate: the certificate of the host isn't trusted, or is for another host.
	ErrCertificate = errors.New("certificate not trusted")
	// ErrName: the name of the host can't be resolved.
	ErrName = errors.New("host name not found")
	// ErrRefused: no server listens at the address.
	ErrRefused = errors.New("connection refused")
	// ErrTimeout: the answer took too long to begin.
	ErrTimeout = errors.New("no answer in time")
	// ErrProxy: the proxy can't be used.
	ErrProxy = errors.New("proxy failed")
	// ErrNotHTTPS: the server speaks http on an https URL.
	ErrNotHTTPS = errors.New("no https")
)

// ProxyVariables returns a ClientOptions.Proxy that uses HTTPS_PROXY, HTTP_PROXY and NO_PROXY, also in
// lower case, like http.ProxyFromEnvironment, but with the variables that get returns.
func ProxyVariables(get func(name string) string) func(*http.Request) (*url.URL, error) {
	value := func(name string) string {
		if v := get(name); v != "" {
			return v
		}
		return get(strings.ToLower(name))
	}
	choose := (&httpproxy.Config{HTTPSProxy: value("HTTPS_PROXY"), HTTPProxy: value("HTTP_PROXY"), NoProxy: value("NO_PROXY"), CGI: get("REQUEST_METHOD") != ""}).ProxyFunc()
	return func(req *http.Request) (*url.URL, error) { return choose(req.URL) }
}

// explained adds the reason to an error, if it is known.
func explained(opts *ClientOptions, req *http.Request, err error) error {
	var timeout net.Error
	name, isName := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	proxy := proxyOf(opts, req)
	untrusted, certified := certificate(opts, req.URL.Hostname(), err)
	failed := &Fault{Err: err}
	switch {
	case proxy != "" && (isOp && op.Op == "proxyconnect" || isProxyAnswer(err)):
		failed.ID, failed.Kind, failed.Advice = "proxy_failed", ErrProxy, proxyAdvice(proxy, err)
	case certified:
		failed.ID, failed.Kind, failed.Advice = "untrusted_certificate", ErrCertificate, untrusted
	case errors.Is(err, http.ErrSchemeMismatch):
		failed.ID, failed.Kind = "not_https", ErrNotHTTPS
		failed.Advice = fmt.Sprintf("the server at %s speaks http and not https there: check the scheme and the port of the URL", req.URL.Host)
	case isName:
		failed.ID, failed.Kind = "host_not_found", ErrName
		failed.Advice = fmt.Sprintf("the name %q can't be resolved: check how it is written, and the DNS, VPN and network of this machine. "+
			"If hosts can only be reached through a proxy, HTTPS_PROXY has to name it", name.Name)
	case isRefused(err):
		failed.ID, failed.Kind = "connection_refused", ErrRefused
		failed.Advice = fmt.Sprintf("no server listens at %s, or a firewall refuses: check that it runs, and the host and the port in the URL", addressOf(op, req))
	case isUnrouted(err):
		failed.ID = "unreachable"
		failed.Advice = fmt.Sprintf("this machine has no route to %s: check its network and VPN. If hosts can only be reached through a proxy, HTTPS_PROXY has to name it", addressOf(op, req))
	case errors.As(err, &timeout) && timeout.Timeout():
		failed.ID, failed.Kind = "timeout", ErrTimeout
		failed.Advice = fmt.Sprintf("%s didn't begin to answer within %s: it is overloaded, or something on the way drops what is sent to it", req.URL.Host, opts.HeaderTimeout)
	default:
		return err
	}
	return failed
}

// proxyOf returns the proxy of a request, without its password, or "".
func proxyOf(opts *ClientOptions, req *http.Request) string {
	if opts.Proxy == nil {
		return ""
	}
	proxy, err := opts.Proxy(req)
	if err != nil || proxy == nil {
		return ""
	}
	return RedactAddress(proxy.String())
}

// isProxyAnswer reports whether a proxy refused to connect. net/http's error has only the status
// text then.
func isProxyAnswer(err error) bool {
	for status := http.StatusBadRequest; status <= http.StatusNetworkAuthenticationRequired; status++ {
		if text := http.StatusText(status); text != "" && err.Error() == text {
			return true
		}
	}
	return false
}

func proxyAdvice(proxy string, err error) string {
	text := fmt.Sprintf("the request goes through the proxy %s, which HTTPS_PROXY or HTTP_PROXY names", proxy)
	if err.Error() == http.StatusText(http.StatusProxyAuthRequired) {
		return text + ": it wants a login, as in http://USER:PASSWORD@HOST:PORT"
	}
	if isProxyAnswer(err) {
		return text + ": it refuses to connect to that host"
	}
	return text + ": check the variable. Hosts that are reached without it belong in NO_PROXY"
}

func isRefused(err error) bool {
	const windowsRefused = syscall.Errno(10061)
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, windowsRefused)
}

func isUnrouted(err error) bool {
	const windowsNetwork, windowsHost = syscall.Errno(10051), syscall.Errno(10065)
	return errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, windowsNetwork) || errors.Is(err, windowsHost)
}

// addressOf returns the address that can't be connected to.
func addressOf(op *net.OpError, req *http.Request) string {
	if op != nil && op.Addr != nil {
		return op.Addr.String()
	}
	return req.URL.Host
}

// certificate returns why a certificate isn't trusted; ok is false for other errors.
func certificate(opts *ClientOptions, host string, err error) (advice string, ok bool) {
	if foreign, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		issuer := "an authority"
		if foreign.Cert != nil {
			issuer = fmt.Sprintf("%q", foreign.Cert.Issuer.String())
		}
		return fmt.Sprintf("the certificate of %s is issued by %s, which this machine doesn't trust. Ask those who run the host, or a proxy on the way, whether that authority is theirs; "+
			"if it is, put its certificate %s", host, issuer, trusted(opts)), true
	}
	if other, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("the certificate is not for %s: check the host in the URL, and whether something on the way answers in its place", other.Host), true
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired && invalid.Cert != nil {
		const minute = "2006-01-02 15:04"
		from, until, now := invalid.Cert.NotBefore.UTC(), invalid.Cert.NotAfter.UTC(), opts.Now().UTC()
		if now.Before(from) {
			return fmt.Sprintf("the certificate of %s is not valid before %s UTC, and the clock of this machine says %s: set the clock, or ask those who run the host",
				host, from.Format(minute), now.Format(minute)), true
		}
		return fmt.Sprintf("the certificate of %s expired at %s UTC: those who run the host have to renew it. The clock of this machine says %s; set it if it is wrong",
			host, until.Format(minute), now.Format(minute)), true
	}
	_, ok = errors.AsType[*tls.CertificateVerificationError](err)
	return fmt.Sprintf("the certificate of %s can't be verified: tell those who run the host", host), ok
}

// trusted returns where to add a trusted certificate.
func trusted(opts *ClientOptions) string {
	file, dir := opts.variables.file, opts.variables.dir
	switch {
	case file == "" && dir == "":
		return "beside those of the system, or into a PEM file that SSL_CERT_FILE names"
	case file == "":
		return fmt.Sprintf("into the directory of SSL_CERT_DIR, %s, as a PEM file", dir)
	}
	content, err := wholefile.Read(file, certificateBytes)
	if err != nil {
		return fmt.Sprintf("into the file that SSL_CERT_FILE names: it is %s, which can't be read (%v)", file, wrapped.Reason(err))
	}
	if !x509.NewCertPool().AppendCertsFromPEM(content) {
		return fmt.Sprintf("into the file that SSL_CERT_FILE names: it is %s, which was read and has no certificate in PEM", file)
	}
	return fmt.Sprintf("into the file that SSL_CERT_FILE names: it is %s, which was read and doesn't have it", file)
}
