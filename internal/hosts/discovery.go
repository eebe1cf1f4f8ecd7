package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
)

// Limits of the discovery protocol: the largest number of redirects, and a document's size in
// bytes.
const (
	discoveryRedirects = 3
	discoveryBytes     = 1 << 20
)

const jsonMediaType = "application/json"

// Discovery finds the base URL of a host's services. It asks each host once in MaxAge, and doesn't
// cache failures, so that a later call tries again. Set the fields before the first call; then many
// goroutines may use it. Don't copy it after the first call.
type Discovery struct {
	// Client requests discovery documents; see NewClient. Nil means DefaultClient.
	Client *http.Client
	// Credentials are sent with the request for a host's document; nil means none. If they can't be
	// read, the request has none.
	Credentials Credentials
	// Forced replaces network discovery for the hosts of the CLI configuration's `host` blocks:
	// service identifier to URL, which may be relative to the host's discovery URL. Such a host
	// offers no other services.
	Forced map[Hostname]map[string]string

	// Aliases are other names of hosts. Set it before the first request; see WithAliases.
	Aliases Aliases

	// MaxAge is how long a host's services are cached: 0 means 15 minutes, a negative value as long
	// as the Discovery lives.
	MaxAge time.Duration

	// Hasty caches a host's failure for ten seconds: for runs over many directories, each of which would wait for the host.
	Hasty bool

	known par.Aged[Hostname, services]
	tried par.Aged[Hostname, trial]
}

// trial is a host's result, and failedFor how long Hasty caches a failure.
type trial struct {
	services
	err error
}

const failedFor = 10 * time.Second

// Service returns the base URL of a service such as "providers.v1": absolute, with the scheme https
// or http, without userinfo and fragment. The caller may change it.
//
// The URL is https, or on a loopback address: on plain http an attacker could change a registry's
// answers, and whose signatures count. It is http elsewhere only if the user has it in Forced.
//
// The host's document at https://HOST/.well-known/terraform.json must be a JSON object of at most 1
// MiB with the media type application/json, at most 3 redirects away; relative URLs in it are
// resolved against its final URL. Status 404 means that the host offers no services.
//
// A failed request has at least three retries, if the Client is from NewClient.
//
// Errors are *Fault with the Host; they match ErrNoService, ErrServiceVersion, ErrUnauthorized,
// ErrHostUnreachable or ErrDiscoveryDocument.
func (d *Discovery) Service(ctx context.Context, host Hostname, service string) (*url.URL, error) {
	offered, err := d.services(ctx, host)
	var base *url.URL
	if err == nil {
		base, err = offered.url(service)
	}
	if err != nil {
		return nil, explain(err, host, service)
	}
	return base, nil
}

// Services returns all services of a host by identifier: strings that are URLs become absolute, and
// other JSON values are unchanged, except that strings in objects that begin with "/" become
// absolute URLs. The errors are those of Service.
func (d *Discovery) Services(ctx context.Context, host Hostname) (map[string]any, error) {
	offered, err := d.services(ctx, host)
	if err != nil {
		return nil, explain(err, host, "")
	}
	all := make(map[string]any, len(offered.urls))
	for id, value := range offered.urls {
		switch value := value.(type) {
		case string:
			all[id] = offered.absolute(value)
		case map[string]any:
			object := make(map[string]any, len(value))
			for key, inner := range value {
				object[key] = inner
				if text, ok := inner.(string); ok && strings.HasPrefix(text, "/") {
					object[key] = offered.absolute(text)
				}
			}
			all[id] = object
		default:
			all[id] = value
		}
	}
	return all, nil
}

// absolute resolves a URL of the document; other text is unchanged.
func (s services) absolute(text string) string {
	if u, err := s.base.Parse(text); err == nil {
		return u.String()
	}
	return text
}

// trouble is a problem with a host, independent of who asked for what.
type trouble struct {
	kind error // of the Fault
	err  error // the cause, or the versions that the host offers; may be nil with ErrNoService and ErrServiceVersion
	sent bool  // the request had credentials
}

// Error implements error.
func (t *trouble) Error() string { return fmt.Sprint(t.err) }

// explain returns the error for one caller.
func explain(err error, host Hostname, service string) *Fault {
	why, ok := errors.AsType[*trouble](err)
	if !ok {
		why = &trouble{kind: ErrHostUnreachable, err: err}
	}
	failed, cause := &Fault{ID: "unreachable", Kind: why.kind, Common: "discovery " + host.String() + " " + service, Host: host}, why.err
	if why.kind == ErrUnauthorized {
		failed.ID, cause = "unauthorized", &Refusal{Host: host, Sent: why.sent, Err: why.err}
	}
	switch why.kind {
	case ErrNoService:
		failed.ID, failed.Err = "no_service", fmt.Errorf("host %s does not offer the service %s", host, service)
	case ErrServiceVersion:
		instead := ""
		if why.err != nil {
			instead = fmt.Sprintf(" (%v)", why.err)
		}
		failed.ID, failed.Err = "service_version",
			fmt.Errorf("host %s does not offer the service %s%s, but may be compatible with a different Terraform version", host, service, instead)
	case ErrDiscoveryDocument:
		failed.ID, failed.Err = "discovery_document", fmt.Errorf("host %s has an invalid discovery document: %w", host, why.err)
	default:
		failed.Err = fmt.Errorf("could not connect to %s: failed to request discovery document: %w", host, cause)
	}
	return failed
}

// hostsKnown bounds the memory of a server whose clients choose the hosts.
const hostsKnown = 100

func (d *Discovery) services(ctx context.Context, host Hostname) (services, error) {
	host = d.Aliases.of(host)
	if forced, ok := d.Forced[host]; ok {
		return forcedServices(discoveryURL(host), forced), nil
	}
	d.known.Trim(hostsKnown)
	find := func(ctx context.Context) (services, error) {
		return d.known.Do(ctx, host, time.Now, d.MaxAge, func(ctx context.Context) (services, error) { return d.ask(ctx, host) })
	}
	if !d.Hasty {
		return find(ctx)
	}
	tried, err := d.tried.Do(ctx, host, time.Now, failedFor, func(ctx context.Context) (trial, error) {
		found, err := find(ctx)
		return trial{found, err}, context.Cause(ctx) // an interrupted query isn't a failure to cache
	})
	return tried.services, cmp.Or(err, tried.err)
}

func discoveryURL(host Hostname) *url.URL {
	return &url.URL{Scheme: "https", Host: host.ASCII(), Path: "/.well-known/terraform.json"}
}

func (d *Discovery) ask(ctx context.Context, host Hostname) (services, error) {
	req := DocumentRequest{
		URL:          discoveryURL(host),
		Header:       http.Header{"Accept": {jsonMediaType}},
		MaxRedirects: discoveryRedirects,
		MaxBytes:     discoveryBytes,
	}
	// The document is public almost everywhere. A failing helper is reported by the request that
	// needs the token.
	_ = Authorize(ctx, d.Credentials, host, req.URL, req.Header)
	authorized := req.Header.Get("Authorization") != ""
	doc, err := GetDocument(patiently(ctx), d.Client, req)
	if err != nil {
		kind := ErrHostUnreachable
		if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrPlainHTTP) {
			kind = ErrDiscoveryDocument
		}
		return services{}, &trouble{kind: kind, err: err}
	}
	switch doc.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return services{}, nil
	default:
		kind := ErrHostUnreachable
		if Refuses(doc.StatusCode) {
			kind = ErrUnauthorized
		}
		return services{}, &trouble{kind, afterAttempts(doc.Attempts, errors.New(doc.Status+doc.Said)), authorized}
	}
	if err := checkMediaType(doc.Header.Get("Content-Type")); err != nil {
		return services{}, &trouble{kind: ErrDiscoveryDocument, err: err}
	}
	return parseServices(doc.URL, doc.Body)
}

// checkMediaType accepts any parameters.
func checkMediaType(header string) error {
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return fmt.Errorf("malformed Content-Type %q", header)
	}
	if mediaType != jsonMediaType {
		return fmt.Errorf("unsupported Content-Type %q instead of %q", mediaType, jsonMediaType)
	}
	return nil
}

// How many of a document's keys, which an attacker may have written, a message repeats.
const maxOffered = 5

// isPlainVersion reports whether text is "v" and one to four digits.
func isPlainVersion(text string) bool {
	digits, found := strings.CutPrefix(text, "v")
	return found && 1 <= len(digits) && len(digits) <= 4 && strings.Trim(digits, "0123456789") == ""
}

// services are a host's services: the document and its URL. The zero value has no services.
type services struct {
	base   *url.URL
	urls   map[string]any // JSON values by service identifier
	forced bool           // from the user's configuration
}

// forcedServices returns the services of a host block.
func forcedServices(base *url.URL, urls map[string]string) services {
	values := make(map[string]any, len(urls))
	for id, u := range urls {
		values[id] = u
	}
	return services{base: base, urls: values, forced: true}
}

// parseServices decodes a document. Values are checked when they are used, so that a mistake in one
// service doesn't affect others.
func parseServices(base *url.URL, body []byte) (services, error) {
	var urls map[string]any
	err := json.Unmarshal(body, &urls)
	if err == nil && urls == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		return services{}, &trouble{kind: ErrDiscoveryDocument, err: fmt.Errorf("not a JSON object: %w", err)}
	}
	return services{base: base, urls: urls}, nil
}

// url returns the base URL of a service: "providers.v1" is version 1 of the service "providers".
func (s services) url(id string) (*url.URL, error) {
	value, present := s.urls[id]
	if text, ok := value.(string); ok {
		return s.resolve(id, text)
	}
	if present {
		return nil, &trouble{kind: ErrServiceVersion, err: errors.New("its URL is not a string")}
	}
	others, some := s.otherVersions(id)
	switch {
	case len(others) > 0:
		return nil, &trouble{kind: ErrServiceVersion, err: errors.New("only " + strings.Join(others, ", "))}
	case some:
		return nil, &trouble{kind: ErrServiceVersion}
	}
	return nil, &trouble{kind: ErrNoService}
}

// otherVersions returns the identifiers of a service's other versions, and whether any exists, even
// with an odd version, which isn't listed.
func (s services) otherVersions(id string) (found []string, some bool) {
	name, _, _ := strings.Cut(id, ".")
	for _, other := range slices.Sorted(maps.Keys(s.urls)) {
		version, ok := strings.CutPrefix(other, name+".")
		some = some || ok
		if ok && isPlainVersion(version) && len(found) < maxOffered {
			found = append(found, other)
		}
	}
	return found, some
}

func (s services) resolve(id, text string) (*url.URL, error) {
	u, err := s.base.Parse(text)
	if err != nil {
		err = WithoutURL(err)
	} else {
		err = checkServiceURL(u)
	}
	if err == nil && !s.forced && !Confidential(u) {
		err = fmt.Errorf("%w; a host block of the CLI configuration may name such a URL", ErrPlainHTTP)
	}
	if err != nil {
		return nil, &trouble{kind: ErrDiscoveryDocument, err: fmt.Errorf("the URL of %s can't be used: %w", id, err)}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

func checkServiceURL(u *url.URL) error {
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("unsupported scheme %q", u.Scheme)
	case u.User != nil:
		return errors.New("embedded username or password information is not permitted")
	case u.Host == "":
		return errors.New("it names no host")
	}
	return nil
}
