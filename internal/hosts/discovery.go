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

// The limits of the discovery protocol: how many redirects a document may be
// away, and its size in bytes.
const (
	discoveryRedirects = 3
	discoveryBytes     = 1 << 20
)

const jsonMediaType = "application/json"

// Discovery finds the base URL of a host's services. It asks each host once in MaxAge;
// of failures nothing is remembered, so a later call tries again. Set the
// fields before the first call; then it is safe for use by many goroutines.
// It must not be copied after the first call.
type Discovery struct {
	// Client is used for discovery documents; see NewClient. Nil: that of
	// DefaultClient.
	Client *http.Client
	// Credentials are sent along with the request for a host's document; nil:
	// none. Where they can't be had, the request goes without.
	Credentials Credentials
	// Forced replaces network discovery for the hosts it names (the `host`
	// blocks of the CLI configuration): service identifier to URL, which may
	// be relative to the host's discovery URL. A host that is in here offers these
	// services and no others.
	Forced map[Hostname]map[string]string

	// Aliases are hosts that others stand for. It is set before the first request; see WithAliases.
	Aliases Aliases

	// MaxAge is how long what a host offers is remembered: 0 is 15 minutes, and less than 0
	// as long as the Discovery lives.
	MaxAge time.Duration

	// Hasty has a host that failed not be asked again for ten seconds: for runs over many directories, each of which would wait for it.
	Hasty bool

	known par.Aged[Hostname, services]
	tried par.Aged[Hostname, trial]
}

// trial is what a host has answered, and failedFor how long a failure counts.
type trial struct {
	services
	err error
}

const failedFor = 10 * time.Second

// Service returns the base URL of a service such as "providers.v1": absolute,
// its scheme https or http, without userinfo and fragment. The caller may
// change it.
//
// The service is at https, or on this machine: who else can read along could
// exchange what a registry says, and whose signatures count. At http it is only where
// Forced has it, by the user's own choice.
//
// The host's document at https://HOST/.well-known/terraform.json must be a
// JSON object of at most 1 MiB with the media type application/json, at most
// 3 redirects away; relative URLs in it are resolved against the place where it
// was found in the end. Status 404 means that the host offers nothing.
//
// A request that fails is made three times more at least, as far as the Client is
// one of NewClient.
//
// Errors are *Fault with the Host; ErrNoService, ErrServiceVersion, ErrUnauthorized,
// ErrHostUnreachable and ErrDiscoveryDocument tell them apart.
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

// Services returns all that a host offers, by service identifier: absolute URLs where the document
// has texts that are such, and the other JSON values as they are, with those texts in objects made
// absolute that begin with "/". The errors are those of Service.
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

// absolute is a URL of the document as it is anywhere else; what is none stays as it is.
func (s services) absolute(text string) string {
	if u, err := s.base.Parse(text); err == nil {
		return u.String()
	}
	return text
}

// trouble is what is wrong with a host, whoever asked it and for what.
type trouble struct {
	kind error // of the Fault
	err  error // the cause, or what the host offers in other versions; may be nil with ErrNoService and ErrServiceVersion
	sent bool  // the host had been given credentials
}

// Error implements error.
func (t *trouble) Error() string { return fmt.Sprint(t.err) }

// explain says what is wrong to one of those who asked.
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

func (d *Discovery) services(ctx context.Context, host Hostname) (services, error) {
	host = d.Aliases.of(host)
	if forced, ok := d.Forced[host]; ok {
		return forcedServices(discoveryURL(host), forced), nil
	}
	find := func(ctx context.Context) (services, error) {
		return d.known.Do(ctx, host, time.Now, d.MaxAge, func(ctx context.Context) (services, error) { return d.ask(ctx, host) })
	}
	if !d.Hasty {
		return find(ctx)
	}
	tried, err := d.tried.Do(ctx, host, time.Now, failedFor, func(ctx context.Context) (trial, error) {
		found, err := find(ctx)
		return trial{found, err}, context.Cause(ctx) // what was interrupted has failed for another reason
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
	// The document is public almost everywhere, so that a helper which fails is
	// reported by the request that does need the token.
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

// checkMediaType accepts parameters of any kind.
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

// What is repeated in messages of a document's keys, which an attacker may have written.
const maxOffered = 5

// isPlainVersion reports whether a text is "v" and one to four digits.
func isPlainVersion(text string) bool {
	digits, found := strings.CutPrefix(text, "v")
	return found && 1 <= len(digits) && len(digits) <= 4 && strings.Trim(digits, "0123456789") == ""
}

// services is what a host offers: the document and where it was found. The
// zero value offers nothing.
type services struct {
	base   *url.URL
	urls   map[string]any // JSON values by service identifier
	forced bool           // the user wrote it
}

// forcedServices is the form of what a user wrote instead of a document.
func forcedServices(base *url.URL, urls map[string]string) services {
	values := make(map[string]any, len(urls))
	for id, u := range urls {
		values[id] = u
	}
	return services{base: base, urls: values, forced: true}
}

// parseServices decodes a document. Values are looked at when they are asked
// for, so that what one service needs never breaks another.
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

// url returns the base URL of a service: "providers.v1" is version 1 of the
// service "providers".
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

// otherVersions returns the identifiers of a service's other versions, and
// whether there are any at all: what doesn't look like a version isn't listed.
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
		err = withoutURL(err)
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
