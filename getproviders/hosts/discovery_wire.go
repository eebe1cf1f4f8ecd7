package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// What is repeated in messages of a document's keys, which anybody may have written.
const maxOffered = 5

var plainVersion = regexp.MustCompile(`^v[0-9]{1,4}$`)

// services is what a host offers: the document and where it was found. The
// zero value offers nothing.
type services struct {
	base *url.URL
	urls map[string]any // JSON values by service identifier
}

// forcedServices is the form of what a user wrote instead of a document.
func forcedServices(base *url.URL, urls map[string]string) services {
	values := make(map[string]any, len(urls))
	for id, u := range urls {
		values[id] = u
	}
	return services{base, values}
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
		return services{}, &DiscoveryError{Kind: ErrDiscoveryDocument, Err: fmt.Errorf("not a JSON object: %w", err)}
	}
	return services{base, urls}, nil
}

// url returns the base URL of a service: "providers.v1" is version 1 of the
// service "providers".
func (s services) url(id string) (*url.URL, error) {
	value, present := s.urls[id]
	if text, ok := value.(string); ok {
		return s.resolve(id, text)
	}
	if present {
		return nil, &DiscoveryError{Kind: ErrServiceVersion, Err: errors.New("its URL is not a string")}
	}
	if others, some := s.otherVersions(id); some {
		return nil, &DiscoveryError{Kind: ErrServiceVersion, Offered: others}
	}
	return nil, &DiscoveryError{Kind: ErrNoService}
}

// otherVersions returns the identifiers of a service's other versions, and
// whether there are any at all: what doesn't look like a version isn't listed.
func (s services) otherVersions(id string) (found []string, some bool) {
	name, _, _ := strings.Cut(id, ".")
	for _, other := range slices.Sorted(maps.Keys(s.urls)) {
		version, ok := strings.CutPrefix(other, name+".")
		some = some || ok
		if ok && plainVersion.MatchString(version) && len(found) < maxOffered {
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
	if err != nil {
		return nil, &DiscoveryError{Kind: ErrDiscoveryDocument, Err: fmt.Errorf("the URL of %s can't be used: %w", id, err)}
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
