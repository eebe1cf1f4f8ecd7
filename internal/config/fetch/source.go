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

// packageSource is where content comes from, and by which means. It is comparable:
// equal ones have the same content.
type packageSource struct {
	kind     string // "http", "git", "hg", "s3", "gcs", "file", "oci"
	url      string // without the parameters that are for us
	archive  string // how it is packed, a key of archiveKinds; "": a directory, or a page that says where the package is
	checksum checksum

	// Of git and hg.
	ref    string
	depth  int
	sshKey string // decoded

	own     bool           // of s3: see modules.FetchRequest
	tokenOf hosts.Hostname // see modules.Served

	// known is what an earlier run found: the SHA-256 of an archive, or a commit.
	known string
}

// location is where a package is, after all that servers say about it.
type location struct {
	packageSource
	address string // what the source was read from
	subdir  string // from the answer of a server; it may be a pattern
	hopped  bool   // whether a server answered with this address
}

// isPage reports whether there is no package there, but a word of where it is.
func (o packageSource) isPage() bool { return o.kind == "http" && o.archive == "" }

// archiveKinds are the suffixes of archives. Like in Terraform, some are only
// known where a server, not the configuration, names the archive; and bz2,
// gz and xz are known, but never a directory.
func archiveKinds(hopped bool) []string {
	kinds := []string{"bz2", "gz", "tar.bz2", "tar.gz", "tar.tbz2", "tar.xz", "tbz2", "tgz", "txz", "xz", "zip"}
	if hopped {
		kinds = append(kinds, "tar", "tar.zst", "tzst", "zst")
	}
	return kinds
}

// unnamed is the kind of an archive whose content tells what it is.
const unnamed = "unnamed"

// kinds are the means by which packages are fetched, and the schemes that their
// URLs may have; none: any that the program below accepts.
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

// parseSource reads the address of a package. Hopped is one from the answer of a server. Errors match [ErrAddress].
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
		return from, withoutURL(err)
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
	return from, withoutURL(err)
}

// parsed is the URL, which was parsed when it was read.
func (o packageSource) parsed() *url.URL {
	u, err := url.Parse(o.url)
	if err != nil {
		return new(url.URL)
	}
	return u
}

// checkKind refuses what there is no means for. Servers may not lead to the files
// of those who ask them.
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

// readParameters takes out of a URL what isn't for the server.
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

// suffixOf returns the longest suffix of a path that says how it is packed.
func suffixOf(name string, hopped bool) string {
	longest := ""
	for _, suffix := range archiveKinds(hopped) {
		if len(suffix) > len(longest) && strings.HasSuffix(name, "."+suffix) {
			longest = suffix
		}
	}
	return longest
}

// readRest reads what only repositories have, and what only files have.
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
		return fmt.Errorf("the ref %q could be taken for an option, or is no text", o.ref)
	}
	u.RawQuery = query.String()
	o.url = u.String()
	return nil
}

func (o *packageSource) readGit(query *query) error {
	o.ref, _ = query.take("ref")
	if depth, _ := query.take("depth"); depth != "" {
		o.depth, _ = strconv.Atoi(depth) // what is no number is passed over, as Terraform does
	}
	key, _ := query.take("sshkey")
	decoded, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(key, " ", "+"))
	if err != nil {
		return errors.New("the parameter sshkey is not a key in base64")
	}
	o.sshKey = string(decoded)
	return nil
}

// hasControl reports whether there is what no name has, and no line of a
// command or a message either.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// parent returns the repository in which an archive is a file, and the file.
func (o packageSource) parent() (repository packageSource, file string) {
	u := o.parsed()
	file = path.Base(u.Path)
	u.Path, u.RawPath = path.Dir(u.Path), ""
	repository = o
	repository.url, repository.archive, repository.checksum = u.String(), "", checksum{}
	return repository, file
}

// filePath returns the path of a file URL. Like Terraform it doesn't decode
// one that is not in the form in which Go would write it.
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

// query is a URL's query, in its parts. What isn't taken out stays exactly as it
// was written: servers may have signed it.
type query struct{ parts []string }

func splitQuery(raw string) *query {
	if raw == "" {
		return &query{}
	}
	return &query{strings.Split(raw, "&")}
}

// take removes a parameter, and returns the first value that it had.
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

// String joins what is left.
func (q *query) String() string { return strings.Join(q.parts, "&") }

// login is what stands before the host of a URL, wherever in a text.
var login = par.OnceRegexp(`//[^/\s]*@`)

// harmless are the parameters whose values are no secrets.
var harmless = []string{"archive", "depth", "digest", "ref", "rev", "tag"}
