package modules

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// wanted is a call's condition on the version.
type wanted struct {
	text        string
	constraints version.Constraints // nil allows every release
	exact       []*version.Version  // the versions of terms that name one exactly
}

// parseWanted reads the constraint of a call.
func parseWanted(text string) (wanted, error) {
	want := wanted{text: text}
	if text == "" {
		return want, nil
	}
	var err error
	if want.constraints, err = version.NewConstraint(text); err != nil {
		return wanted{}, fmt.Errorf("%q is not a version constraint", text)
	}
	for term := range strings.SplitSeq(text, ",") {
		boundary := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(term), "="))
		if v, err := version.NewVersion(boundary); err == nil { // fails for other operators
			want.exact = append(want.exact, v)
		}
	}
	return want, nil
}

// pinned returns the version of a constraint that has one term and names it exactly.
func (w wanted) pinned() (string, bool) {
	if len(w.constraints) != 1 || len(w.exact) != 1 {
		return "", false
	}
	return w.exact[0].String(), true
}

// considers reports whether a version may be chosen: any release, and a prerelease that the
// constraint names.
func (w wanted) considers(v *version.Version) bool {
	return v.Prerelease() == "" || slices.ContainsFunc(w.exact, func(exact *version.Version) bool { return exact.String() == v.String() })
}

// Choice is the version that was chosen for a call.
type Choice struct {
	Version string // normalised: "1.2" of a registry is "1.2.0" here
	// Unasked says that the registry wasn't asked, and might list a better version.
	Unasked  bool
	Warnings []string // problems in the registry's answer, each a sentence without a full stop
}

// choose returns the newest version that a call allows, the first of equal ones.
func (l versionList) choose(module Registry, want wanted) (Choice, error) {
	choice := Choice{Warnings: l.warnings(module)}
	var best, newest, prerelease *version.Version
	for _, v := range l.versions {
		switch {
		case !want.considers(v):
			prerelease = newer(prerelease, v)
			continue
		case want.constraints == nil || want.constraints.Check(v):
			best = newer(best, v)
		}
		newest = newer(newest, v)
	}
	if best == nil {
		return choice, noVersion(module, want.text, newest, prerelease)
	}
	choice.Version = best.String()
	return choice, nil
}

// newer returns the newer of two versions, a if they are equal. a may be nil.
func newer(a, b *version.Version) *version.Version {
	if a == nil || b.GreaterThan(a) {
		return b
	}
	return a
}

// How much of a registry's answer a warning repeats.
const (
	oddVersions = 5
	oddLength   = 64
)

// warnings says which listed versions are invalid.
func (l versionList) warnings(module Registry) []string {
	if len(l.odd) == 0 {
		return nil
	}
	var shown []string
	for _, odd := range l.odd[:min(len(l.odd), oddVersions)] {
		shown = append(shown, fmt.Sprintf("%.*q", oddLength, odd))
	}
	names := strings.Join(shown, ", ")
	if more := len(l.odd) - len(shown); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("The registry at %s lists versions of %s that are invalid, and ignored: %s",
		module.Host, module.Package(), names)}
}

// wireVersions is the answer to ":namespace/:name/:system/versions". The first element of the list
// is the requested module; the others are ignored.
type wireVersions struct {
	Modules []*struct {
		Versions []*struct {
			Version string `json:"version"`
		} `json:"versions"`
	} `json:"modules"`
}

// versionList is a registry's answer about the versions of a module.
type versionList struct {
	versions []*version.Version // in the registry's order
	odd      []string           // invalid versions
}

// decodeVersions reads the answer to ":namespace/:name/:system/versions". It keeps invalid versions
// apart, so that one odd release doesn't hide the others.
func decodeVersions(body []byte) (list versionList, err error) {
	var wire wireVersions
	if err := json.Unmarshal(body, &wire); err != nil {
		return list, hosts.PlainJSON(err)
	}
	if len(wire.Modules) == 0 || wire.Modules[0] == nil {
		return list, errors.New("it lists no module")
	}
	for i, entry := range wire.Modules[0].Versions {
		if entry == nil {
			return list, fmt.Errorf("versions[%d] is null", i)
		}
		v, err := version.NewVersion(entry.Version)
		if err != nil {
			list.odd = append(list.odd, entry.Version)
			continue
		}
		list.versions = append(list.versions, v)
	}
	return list, nil
}

// maxLocation is the longest location in bytes: signed URLs have a few thousand.
const maxLocation = 16 << 10

// readAnswer reads the answer to ":namespace/:name/:system/:version/download". In OpenTofu the body has precedence over the header.
func readAnswer(product dialect.Dialect, host hosts.Hostname, doc *hosts.Document, asked *url.URL) (Remote, error) {
	location := doc.Header.Get("X-Terraform-Get")
	if !product.Understands("located_in_body") || doc.StatusCode != http.StatusOK {
		return readLocation(location, asked)
	}
	var wire struct {
		Location    string
		Credentials *bool `json:"use_registry_credentials"`
	}
	if err := json.Unmarshal(doc.Body, &wire); err != nil {
		return Remote{}, hosts.PlainJSON(err)
	}
	if wire.Credentials == nil || !product.Understands("served_packages") {
		return readLocation(cmp.Or(wire.Location, location), asked)
	}
	u, err := asked.Parse(wire.Location)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "" || len(wire.Location) > maxLocation {
		return Remote{}, badLocation(errors.New("the location of a package that the registry serves itself has to be a URL of https"))
	}
	remote := Remote{Package: u.String(), Served: Served{Here: true}}
	if *wire.Credentials {
		remote.Served.TokenOf = host
	}
	return remote, nil
}

// readLocation reads a registry's location of a package: an address, or a URL relative to the
// request's URL before any redirect.
func readLocation(location string, asked *url.URL) (found Remote, err error) {
	switch {
	case location == "":
		return found, errors.New("it names no location: there is no X-Terraform-Get in its header")
	case len(location) > maxLocation:
		return found, fmt.Errorf("the location has more than %d bytes", maxLocation)
	}
	for _, prefix := range []string{"/", "./", "../"} {
		if strings.HasPrefix(location, prefix) {
			u, err := asked.Parse(location)
			if err = hosts.WithoutURL(err); err != nil { // without the URL, which may have a secret
				return found, badLocation(fmt.Errorf("the location is not a relative URL: %w", err))
			}
			location = u.String()
			break
		}
	}
	remote, err := parseLocation(location)
	if err != nil {
		return found, badLocation(err)
	}
	return remote, nil
}

// badLocation returns the error for an invalid location.
func badLocation(err error) error { return &getproviders.Fault{Kind: errLocation, Err: err} }

// parseLocation reads the address of a package, and refuses one on this machine.
func parseLocation(location string) (found Remote, err error) {
	address, err := parseComplete(location)
	if err != nil {
		bare, _, _ := strings.Cut(location, "?") // the query may be secret
		if _, err := parseComplete(bare); err != nil {
			return found, fmt.Errorf("the location can't be used: %w", err)
		}
		return found, errors.New("the query of the location is malformed")
	}
	remote, ok := address.(Remote)
	if !ok {
		return found, fmt.Errorf("the location %q is not the address of a package", address)
	}
	if remote.isOnMachine() {
		return found, fmt.Errorf("the location %q is on this machine, where no registry may lead to. "+
			"To use it, name it as the source in your own configuration", remote.shown())
	}
	return remote, nil
}
