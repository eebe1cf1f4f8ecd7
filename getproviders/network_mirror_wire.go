package getproviders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/layout"
)

// errRegistryAnswer says that the URL of a mirror is that of something else.
var errRegistryAnswer = errors.New("this is an answer of the provider registry protocol: " +
	"the URL seems to be that of a registry, and network mirrors speak another protocol")

// wireIndex is a mirror's "index.json". The values of its versions have no
// meaning yet.
type wireIndex struct {
	Versions json.RawMessage `json:"versions"`
}

// decodeMirrorIndex returns the versions that a mirror has, sorted. What isn't
// a version is skipped.
func decodeMirrorIndex(body []byte) ([]Version, error) {
	wire, err := decodeObject[wireIndex](body)
	if err != nil {
		return nil, err
	}
	if isJSONArray(wire.Versions) || wire.Versions == nil && isRegistryError(body) {
		return nil, errRegistryAnswer
	}
	var listed map[string]json.RawMessage
	if wire.Versions != nil {
		if err := json.Unmarshal(wire.Versions, &listed); err != nil {
			return nil, errors.New("versions is not a JSON object")
		}
	}
	versions := make([]Version, 0, len(listed))
	for text := range listed {
		if v, err := ParseVersion(text); err == nil {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, Version.Compare)
	return slices.Compact(versions), nil
}

// isJSONArray looks at the first byte: whitespace before a value isn't part of
// a json.RawMessage.
func isJSONArray(value json.RawMessage) bool { return len(value) > 0 && value[0] == '[' }

// isRegistryError reports whether an answer is one of those with which
// registries say no: {"errors": ["Not Found"]}.
func isRegistryError(body []byte) bool {
	wire, err := decodeObject[struct {
		Errors []string `json:"errors"`
	}](body)
	return err == nil && len(wire.Errors) > 0
}

// wireArchive is one platform's package in a mirror's "<version>.json".
type wireArchive struct {
	URL    string   `json:"url"`
	Hashes []string `json:"hashes"`
}

// decodeMirrorVersion returns the archives of a version by platform; a nil one
// is as good as none.
func decodeMirrorVersion(body []byte) (map[string]*wireArchive, error) {
	wire, err := decodeObject[struct {
		Archives map[string]*wireArchive `json:"archives"`
		Download json.RawMessage         `json:"download_url"`
	}](body)
	if err != nil {
		return nil, err
	}
	if wire.Archives == nil && (wire.Download != nil || isRegistryError(body)) {
		return nil, errRegistryAnswer
	}
	return wire.Archives, nil
}

// archivePlatforms returns the platforms that there are archives for.
func archivePlatforms(archives map[string]*wireArchive) []Platform {
	var platforms []Platform
	for text, archive := range archives {
		if plat, err := ParsePlatform(text); err == nil && archive != nil {
			platforms = append(platforms, plat)
		}
	}
	return sortPlatforms(platforms)
}

// read returns where the archive is, as the document at base says, and
// the hashes that the mirror gives.
func (w *wireArchive) read(base *url.URL) (*url.URL, AnyHash, error) {
	location, err := resolveURL(base, "url", w.URL)
	if err != nil || len(w.Hashes) == 0 {
		return location, nil, err
	}
	hashes := make(AnyHash, len(w.Hashes))
	for i, text := range w.Hashes {
		if hashes[i], err = ParseHash(text); err != nil {
			// What a server sends may be long: err repeats all of it.
			return nil, nil, fmt.Errorf("hashes[%d] is %.80q, which has no scheme such as %q", i, text, hashing.ZH+":")
		}
	}
	return location, hashes, nil
}

const (
	// mirrorAnswerBytes is how large an answer of a mirror may be. An index has
	// some 20 bytes for each version, a version's document under a kilobyte for
	// each platform.
	mirrorAnswerBytes = 16 << 20

	// mirrorRedirects is how many redirects are followed, as in Terraform and OpenTofu.
	mirrorRedirects = 5
)

// ask gets one of a provider's documents, which is there or answers 404.
func (s *NetworkMirrorSource) ask(ctx context.Context, p Provider, name string) (*hosts.Document, error) {
	req, err := s.request(ctx, p, name, mirrorAnswerBytes)
	if err != nil {
		return nil, err
	}
	doc, err := s.get(ctx, req)
	switch {
	case err != nil:
		return nil, queryError(ctx, kindMirror, p, err)
	case doc.StatusCode == http.StatusNotFound:
		return doc, nil
	case doc.StatusCode != http.StatusOK:
		return nil, s.advised(statusError(kindMirror, p, s.host, req, doc), doc)
	}
	if err := checkMediaType(doc); err != nil {
		return nil, s.malformed(p, doc, err)
	}
	return doc, nil
}

// request is for something in a provider's directory.
func (s *NetworkMirrorSource) request(ctx context.Context, p Provider, name string, maxBytes int64) (hosts.DocumentRequest, error) {
	if err := p.Validate(); err != nil {
		return hosts.DocumentRequest{}, err
	}
	req := hosts.DocumentRequest{
		URL:          s.base.ResolveReference(s.documentPath(p, name)),
		Header:       versionHeader(s.product),
		MaxRedirects: mirrorRedirects,
		MaxBytes:     maxBytes,
	}
	if s.files != nil {
		return req, nil
	}
	if err := hosts.Authorize(ctx, s.credentials, s.host, req.URL, req.Header); err != nil {
		return req, queryError(ctx, kindMirror, p, err)
	}
	return req, nil
}

// documentPath is where a document is below the base URL. It is a path and no
// text, in which the port of a provider's host would make a scheme of the host.
// Files have the names that directories of a filesystem mirror have.
func (s *NetworkMirrorSource) documentPath(p Provider, name string) *url.URL {
	if s.files != nil {
		return &url.URL{Path: layout.ProviderPath(p) + "/" + name}
	}
	return &url.URL{Path: strings.Join([]string{p.Hostname.ASCII(), p.Namespace, p.Type, name}, "/")}
}

// checkMediaType refuses what isn't declared to be JSON: it tends to be the
// login page of a gateway.
func checkMediaType(doc *hosts.Document) error {
	declared := doc.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(declared); err == nil && mediaType == "application/json" {
		return nil
	}
	return fmt.Errorf("its Content-Type is %.80q and has to be application/json", declared)
}

// malformed says that a document is not what the protocol has there.
func (s *NetworkMirrorSource) malformed(p Provider, doc *hosts.Document, err error) error {
	return s.advised(malformedError(kindMirror, p, doc, err), doc)
}

// advised adds what the answer tells about the mirror's URL to an error.
func (s *NetworkMirrorSource) advised(err error, doc *hosts.Document) error {
	if failed := FaultOf(err, ErrUnreachable); failed != nil {
		failed.Hint = s.advice(doc)
	}
	return err
}

// advice finds what may be wrong with the mirror's URL, judging by an answer
// that is of no use.
func (s *NetworkMirrorSource) advice(doc *hosts.Document) string {
	switch last := path.Base(s.base.Path); {
	case isRegistryError(doc.Body), strings.HasSuffix(s.base.Path, "/v1/providers/"):
		return notMirror
	case s.base.Path != "" && !strings.HasSuffix(s.base.Path, "/"):
		return fmt.Sprintf("the mirror's URL %s has no slash at its end, so that its last part, %q, is not in the URLs that are asked for: %s",
			s.baseURL(), last, hosts.RedactURL(doc.URL))
	default:
		return ""
	}
}

const notMirror = "it looks like a provider registry, which speaks another protocol than a network mirror: install directly from it, or name the URL of a mirror"

// isRegistryHost finds out whether the host that was given as a mirror's URL, without a path, offers
// service discovery. A mirror at a path isn't asked for that.
func (s *NetworkMirrorSource) isRegistryHost(ctx context.Context) bool {
	if s.files != nil || strings.Trim(s.base.Path, "/") != "" {
		return false
	}
	at := *s.base
	at.User, at.Path, at.RawPath = nil, "/.well-known/terraform.json", ""
	doc, err := hosts.GetDocument(ctx, s.client, hosts.DocumentRequest{URL: &at, MaxBytes: failureBytes})
	return err == nil && doc.StatusCode == http.StatusOK && json.Valid(doc.Body)
}

// failureBytes is more than a discovery document has.
const failureBytes = 64 << 10
