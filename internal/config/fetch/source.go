package fetch

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// packageSource says where and how content is fetched. It is comparable: equal ones have the same
// content.
type packageSource struct {
	kind     string // "http", "git", "hg", "s3", "gcs", "file", "oci"
	url      string // without the parameters for tfdeps
	archive  string // its format, a key of archiveKinds; "" for a directory, or a page with the package's address
	checksum checksum

	// Of git and hg.
	ref    string
	depth  int
	sshKey string // decoded

	own     bool           // for s3: see modules.FetchRequest
	tokenOf hosts.Hostname // see modules.Served

	// known is an earlier run's result: the SHA-256 of an archive, or a commit.
	known string
}

// location is where a package is, after following servers' answers.
type location struct {
	packageSource
	address string // from which the source was parsed
	subdir  string // from the answer of a server; it may be a pattern
	hopped  bool   // the address is a server's answer
}

// isPage reports whether the URL is a page with the package's address.
func (o packageSource) isPage() bool { return o.kind == "http" && o.archive == "" }

// archiveKinds returns the suffixes of archives. As in Terraform, some are known only in addresses
// from servers, and bz2, gz and xz are known, but aren't directories.
func archiveKinds(hopped bool) []string {
	kinds := []string{"bz2", "gz", "tar.bz2", "tar.gz", "tar.tbz2", "tar.xz", "tbz2", "tgz", "txz", "xz", "zip"}
	if hopped {
		kinds = append(kinds, "tar", "tar.zst", "tzst", "zst")
	}
	return kinds
}

// unnamed is the kind of an archive that is detected from its content.
const unnamed = "unnamed"

// kinds are the methods of fetching, and the schemes that their URLs may have; nil means all that
// the program accepts.
var kinds = map[string][]string{
	"http":  {"http", "https"},
	"https": {"http", "https"},
	"git":   nil,
	"hg":    {"http", "https", "ssh", "file"},
	"s3":    {"http", "https"},
	"gcs":   {"http", "https"},
	"file":  {"file"},
	"oci":   {"oci"},
}

// parseSource reads the address of a package. hopped says that it is a server's answer. Errors match [ErrAddress].
func parseSource(pkg string, hopped bool) (packageSource, error) {
	from, err := readSource(pkg, hopped)
	if err != nil {
		return packageSource{}, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	return from, nil
}

func readSource(pkg string, hopped bool) (from packageSource, err error) {
	if hasControl(pkg) {
		return from, errors.New("it has control characters")
	}
	forced, text := modules.SplitForced(pkg)
	if again, _ := modules.SplitForced(text); again != "" {
		return from, fmt.Errorf("%q and %q can't both say how to get it", forced+"::", again+"::")
	}
	u, err := url.Parse(text)
	if err != nil {
		return from, hosts.WithoutURL(err)
	}
	kind := cmp.Or(forced, u.Scheme)
	if err = checkKind(kind, u, hopped); err != nil {
		return from, err
	}
	if kind == "oci" {
		return readOCI(u)
	}
	if from, err = readParameters(u, hopped); err != nil {
		return from, err
	}
	if from.kind = kind; kind == "https" {
		from.kind = "http"
	}
	if err = from.readRest(kind, u); err == nil && kind != "file" {
		_, err = url.Parse(from.url)
	}
	return from, hosts.WithoutURL(err)
}

// Target is what a [Fetcher] would fetch.
type Target struct {
	Kind string // "git", "hg", "http", "s3", "gcs", "oci" or "file"
	URL  string // without the parameters for tfdeps; the path of a file
	Ref  string // of git and hg
}

// TargetOf returns what a Fetcher would fetch from the address of a package, as far as that is known without a request:
// a web page may lead elsewhere. Errors match [ErrAddress].
func TargetOf(pkg string) (Target, error) {
	from, err := parseSource(pkg, false)
	if err != nil {
		return Target{}, err
	}
	return Target{Kind: from.kind, URL: from.url, Ref: from.ref}, nil
}

// parsed returns the URL, which is known to be valid.
func (o packageSource) parsed() *url.URL {
	u, err := url.Parse(o.url)
	if err != nil {
		return new(url.URL)
	}
	return u
}

// checkKind refuses unknown methods. Servers must not lead to files of this machine.
func checkKind(kind string, u *url.URL, hopped bool) error {
	schemes, known := kinds[kind]
	switch {
	case !known:
		return fmt.Errorf("packages can't be fetched by %q, only by http, https, git, hg, s3, gcs and file", kind)
	case len(schemes) > 0 && !slices.Contains(schemes, u.Scheme):
		return fmt.Errorf("%s doesn't take URLs with the scheme %q", kind, u.Scheme)
	case u.Opaque != "":
		return errors.New("it has no path")
	case strings.HasPrefix(u.Host, "-"), strings.HasPrefix(u.User.Username(), "-"), strings.HasPrefix(u.String(), "-"):
		return errors.New("the address, its host or its user begins with a dash, and could be taken for an option")
	case hopped && (u.Host == "" || u.Scheme == "file"):
		return errors.New("a server leads to files of this machine")
	case u.Host == "" && (slices.Contains(schemes, "http") && u.Scheme != "file" || u.Scheme == "oci"):
		return errors.New("it has no host")
	case u.Host == "" && u.Path == "":
		return errors.New("it has no path")
	}
	return nil
}

// readParameters removes the parameters for tfdeps from a URL.
func readParameters(u *url.URL, hopped bool) (packageSource, error) {
	from := packageSource{}
	query := splitQuery(u.RawQuery)
	packed, given := query.take("archive")
	if unpacked, err := strconv.ParseBool(packed); err == nil && !unpacked {
		packed = ""
	} else if packed == "" || !given {
		packed = suffixOf(u.Path, hopped)
	}
	if slices.Contains(archiveKinds(hopped), packed) {
		from.archive = packed
	}
	sum, _ := query.take("checksum")
	var err error
	if from.checksum, err = parseChecksum(sum); err != nil {
		return packageSource{}, err
	}
	if from.checksum != (checksum{}) && from.archive == "" {
		return packageSource{}, errors.New("a checksum is only possible for an archive")
	}
	u.RawQuery = query.String()
	from.url = u.String()
	return from, nil
}

// suffixOf returns the longest known archive suffix of a path.
func suffixOf(name string, hopped bool) string {
	longest := ""
	for _, suffix := range archiveKinds(hopped) {
		if len(suffix) > len(longest) && strings.HasSuffix(name, "."+suffix) {
			longest = suffix
		}
	}
	return longest
}

// readRest reads the parameters of repositories, and the path of files.
func (o *packageSource) readRest(kind string, u *url.URL) error {
	query := splitQuery(u.RawQuery)
	switch kind {
	case "git":
		if err := o.readGit(query); err != nil {
			return err
		}
	case "hg":
		o.ref, _ = query.take("rev")
	case "file":
		o.url = filePath(u)
		return nil
	default:
		return nil
	}
	if strings.HasPrefix(o.ref, "-") || hasControl(o.ref) {
		return fmt.Errorf("the ref %q could be taken for an option, or isn't text", o.ref)
	}
	u.RawQuery = query.String()
	o.url = u.String()
	return nil
}

func (o *packageSource) readGit(query *query) error {
	o.ref, _ = query.take("ref")
	if depth, _ := query.take("depth"); depth != "" {
		o.depth, _ = strconv.Atoi(depth) // other text is ignored, as in Terraform
	}
	key, _ := query.take("sshkey")
	decoded, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(key, " ", "+"))
	if err != nil {
		return errors.New("the parameter sshkey is not a key in base64")
	}
	o.sshKey = string(decoded)
	return nil
}

// hasControl reports whether text has control characters, which could break commands and messages.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// parent returns the repository with an archive, and the archive's name in it.
func (o packageSource) parent() (repository packageSource, file string) {
	u := o.parsed()
	file = path.Base(u.Path)
	u.Path, u.RawPath = path.Dir(u.Path), ""
	repository = o
	repository.url, repository.archive, repository.checksum = u.String(), "", checksum{}
	return repository, file
}

// filePath returns the path of a file URL. Like Terraform it doesn't decode a path that isn't in
// Go's canonical form.
func filePath(u *url.URL) string {
	text := u.Path
	if u.RawPath != "" {
		text = u.RawPath
	}
	if runtime.GOOS == "windows" && len(text) > 2 && text[0] == '/' && text[2] == ':' {
		text = text[1:]
	}
	return filepath.FromSlash(text)
}

// readOCI reads oci://HOST/REPOSITORY?tag=TAG, or with ?digest=DIGEST.
func readOCI(u *url.URL) (from packageSource, err error) {
	if u.User != nil || strings.Trim(u.Path, "/") == "" {
		return from, errors.New("it has to be oci://HOST/REPOSITORY")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return from, errors.New("its query can't be read")
	}
	for name, values := range query {
		switch {
		case name == "archive":
			return from, errors.New("the parameter archive isn't possible: the registry says how the package is packed")
		case name != "tag" && name != "digest":
			return from, fmt.Errorf("it has the parameter %q, and may have tag or digest", name)
		case len(values) != 1 || values[0] == "" || len(query) > 1:
			return from, errors.New("it may have one tag, or one digest")
		}
	}
	return packageSource{kind: "oci", url: u.String(), archive: "zip"}, nil
}

// query is a URL's query, in parts. The remaining parts stay exactly as written, because a server
// may have signed them.
type query struct{ parts []string }

func splitQuery(raw string) *query {
	if raw == "" {
		return &query{}
	}
	return &query{strings.Split(raw, "&")}
}

// take removes a parameter, and returns its first value.
func (q *query) take(name string) (value string, found bool) {
	q.parts = slices.DeleteFunc(q.parts, func(part string) bool {
		key, text, _ := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(key); err != nil || decoded != name {
			return false
		}
		if decoded, err := url.QueryUnescape(text); err == nil && !found {
			value, found = decoded, true
		}
		return true
	})
	return value, found
}

// String joins the remaining parts.
func (q *query) String() string { return strings.Join(q.parts, "&") }

// login matches the login of a URL in a text.
var login = par.OnceRegexp(`//[^/\s]*@`)
