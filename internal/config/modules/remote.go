package modules

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Remote is a module in a package that its address locates.
type Remote struct {
	Package string // "git::https://example.com/net.git?ref=v1"
	Subdir  string // below the package; "" means the package itself
	Served  Served
}

// Served is a registry's answer about a package that it serves itself, at a URL. Such an address is never stored.
type Served struct {
	Here    bool           // the package is an archive whose kind is detected from its content
	TokenOf hosts.Hostname // the host whose token is sent; "" means none
}

// String implements [Address].
func (r Remote) String() string {
	base, query, found := strings.Cut(r.Package, "?")
	if !found {
		return withSubdir(base, r.Subdir)
	}
	return withSubdir(base, r.Subdir) + "?" + query
}

func withSubdir(base, subdir string) string {
	if subdir == "" {
		return base
	}
	return base + "//" + subdir
}

// errOutside marks addresses that lead out of their package.
var errOutside = errors.New("leads outside of the module package")

// splitSubdir cuts the subdirectory out of an address: the part after the first "//" that isn't a
// URL scheme's, up to a query.
func splitSubdir(source string) (pkg, subdir string, err error) {
	body, query := source, ""
	if i := strings.IndexByte(source, '?'); i >= 0 {
		body, query = source[:i], source[i:]
	}
	start := 0
	if i := strings.Index(body, "://"); i >= 0 {
		start = i + len("://")
	}
	i := strings.Index(body[start:], "//")
	if i < 0 {
		return source, "", nil
	}
	pkg, subdir = body[:start+i]+query, body[start+i+len("//"):]
	if subdir == "" {
		return pkg, "", nil
	}
	subdir = path.Clean(subdir)
	if subdir == ".." || strings.HasPrefix(subdir, "../") {
		return "", "", fmt.Errorf("the subdirectory %q %w", subdir, errOutside)
	}
	return pkg, subdir, nil
}

// errUnknownKind says that no rule matches the address.
var errUnknownKind = errors.New("the source address doesn't say how to get the module")

// parseRemote reads the address of a package. The part before "::" forces a getter.
func parseRemote(source string) (found Remote, err error) {
	pkg, subdir, err := splitSubdir(source)
	if err != nil {
		return found, err
	}
	if pkg == "" {
		return found, errors.New("the source address is empty")
	}
	forced, location := SplitForced(pkg)
	if location == "" {
		return found, unknownKind(pkg)
	}
	if isURL(location) {
		return Remote{Package: pkg, Subdir: subdir}, nil
	}
	// Short forms of URLs. A function that doesn't know the form returns nothing.
	for _, detect := range []func(string) (Remote, error){detectHosted, detectSSH, detectGoogleStorage, detectS3, detectFile} {
		found, err := detect(location)
		if err != nil {
			return found, err
		}
		if found.Package == "" {
			continue
		}
		_, bare := SplitForced(found.Package)
		if again, _, _ := splitSubdir(bare); again != bare || !isURL(bare) {
			break // the result must be a URL
		}
		if forced != "" {
			found.Package = forced + "::" + bare
		}
		found.Subdir = path.Join(found.Subdir, subdir)
		if found.Subdir == ".." || strings.HasPrefix(found.Subdir, "../") {
			return found, fmt.Errorf("the subdirectory %q %w", found.Subdir, errOutside)
		}
		return found, nil
	}
	return found, unknownKind(Remote{Package: location, Subdir: subdir}.String())
}

func isURL(location string) bool {
	u, err := url.Parse(location)
	return err == nil && u.Scheme != "" && !isOnDrive(location)
}

// isOnDrive reports whether a location is a path such as C:\net, on Windows.
func isOnDrive(location string) bool {
	return len(filepath.VolumeName(location)) == len("C:") && filepath.IsAbs(location) && location[0] != ':'
}

func unknownKind(location string) error {
	return fmt.Errorf("%w: %q is neither a URL nor a registry's module. If it is a directory relative to this module, write \"./%[2]s\"",
		errUnknownKind, redact(location))
}

// SplitForced cuts "git::" and the like off a package's address.
func SplitForced(pkg string) (forced, location string) {
	before, after, found := strings.Cut(pkg, "::")
	if !found || before == "" || strings.Trim(before, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", pkg
	}
	return before, after
}

// isOnMachine reports whether a package would be read from this machine's files, by any program: a
// URL elsewhere has a host.
func (r Remote) isOnMachine() bool {
	forced, location := SplitForced(r.Package)
	u, err := url.Parse(location)
	return err != nil || u.Host == "" || u.Scheme == "file" || forced == "file"
}

// isArchiveName reports whether a file of this name is an archive to unpack.
func isArchiveName(name string) bool {
	at := strings.LastIndexByte(name, '.') + 1
	return at > 0 && slices.Contains([]string{"bz2", "gz", "tbz2", "tgz", "txz", "xz", "zip"}, name[at:])
}

// IsDirectory reports whether a package is a directory of this machine, which is used in place.
// Archives and repositories on this machine aren't.
func (r Remote) IsDirectory() bool {
	forced, location := SplitForced(r.Package)
	u, err := url.Parse(location)
	return err == nil && u.Scheme == "file" && (forced == "" || forced == "file") && !isArchiveName(u.Path) && !u.Query().Has("archive")
}

// detectHosted reads an address at a git hosting service.
func detectHosted(location string) (found Remote, err error) {
	prefix, _, _ := strings.Cut(location, "/")
	service := map[string]string{"github.com": "GitHub", "bitbucket.org": "Bitbucket"}[prefix]
	if service == "" || prefix == location {
		return found, nil
	}
	u, err := url.Parse("https://" + location)
	if err != nil {
		return found, fmt.Errorf("an address of %s that is not a URL: %w", service, hosts.WithoutURL(err))
	}
	if service == "GitHub" { // the rest of the path is a directory
		parts := strings.SplitN(strings.TrimPrefix(u.Path, "/"), "/", 3)
		if len(parts) < 2 {
			return found, errors.New("addresses of GitHub have the form github.com/OWNER/REPOSITORY")
		}
		if len(parts) == 3 {
			found.Subdir = parts[2]
		}
		u.Path = "/" + parts[0] + "/" + parts[1]
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, ".git")+".git", ""
	found.Package = "git::" + u.String()
	return found, nil
}

// sshLocation is git's short form of an ssh URL. Only the user "git" makes it certain that it is a
// repository.
var sshLocation = par.OnceRegexp(`^git@([^:/\[\]@]+):/?(.+)$`)

// detectSSH reads git@host:path.
func detectSSH(location string) (Remote, error) {
	match := sshLocation().FindStringSubmatch(location)
	if match == nil {
		return Remote{}, nil
	}
	path, query, _ := strings.Cut(match[2], "?")
	u := url.URL{Scheme: "ssh", User: url.User("git"), Host: match[1], Path: "/" + path}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Remote{}, fmt.Errorf("the query of %q: %w", redact(location), err)
	}
	u.RawQuery = values.Encode()
	return Remote{Package: "git::" + u.String()}, nil
}

// detectGoogleStorage reads www.googleapis.com/storage/v1/bucket/object.
func detectGoogleStorage(location string) (Remote, error) {
	if !strings.Contains(location, "googleapis.com/") {
		return Remote{}, nil
	}
	parts := strings.SplitN(location, "/", 5)
	if len(parts) < 5 {
		return Remote{}, errors.New("addresses of Google Cloud Storage have the form www.googleapis.com/storage/v1/BUCKET/OBJECT")
	}
	return storage("gcs", "https://www.googleapis.com/storage/"+parts[2]+"/"+parts[3]+"/"+parts[4])
}

// detectS3 reads s3.amazonaws.com/bucket/key and bucket.s3.amazonaws.com/key, also with regions.
func detectS3(location string) (Remote, error) {
	host, key, found := strings.Cut(location, "/")
	labels, isAmazon := strings.CutSuffix(host, ".amazonaws.com")
	if !found || !isAmazon {
		return Remote{}, nil
	}
	switch parts := strings.Split(labels, "."); len(parts) {
	case 1:
		return storage("s3", "https://"+host+"/"+key)
	case 2: // the bucket is always first
		return storage("s3", "https://"+parts[1]+".amazonaws.com/"+parts[0]+"/"+key)
	case 3:
		return storage("s3", "https://"+parts[1]+"."+parts[2]+".amazonaws.com/"+parts[0]+"/"+key)
	default:
		return Remote{}, errors.New("addresses of S3 have the form s3.amazonaws.com/BUCKET/KEY")
	}
}

func storage(forced, location string) (Remote, error) {
	u, err := url.Parse(location)
	if err != nil {
		return Remote{}, fmt.Errorf("an address of a storage service that is not a URL: %w", hosts.WithoutURL(err))
	}
	return Remote{Package: forced + "::" + u.String()}, nil
}

// detectFile reads absolute paths, with slashes, or with backslashes after a Windows drive letter.
func detectFile(location string) (Remote, error) {
	if isOnDrive(location) {
		location = "/" + filepath.ToSlash(location)
	}
	if !strings.HasPrefix(location, "/") {
		return Remote{}, nil
	}
	return Remote{Package: "file://" + location}, nil
}

// Harmless are the query parameters of package addresses whose values aren't secret.
var Harmless = []string{"archive", "checksum", "depth", "digest", "ref", "rev", "tag"}

// shown returns the address for messages.
func (r Remote) shown() string { return redact(r.String()) }

func redact(address string) string { return hosts.RedactAddress(address, Harmless...) }
