package modules

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// detectors know what people write instead of a URL, in the order in which
// they are asked. One that doesn't know a location returns nothing.
func detectors() []func(location string) (Remote, error) {
	return []func(string) (Remote, error){
		detectGitHub, detectSSH, detectBitbucket, detectGoogleStorage, detectS3, detectFile,
	}
}

// detectGitHub knows github.com/owner/repository[/subdirectory].
func detectGitHub(location string) (Remote, error) {
	if !strings.HasPrefix(location, "github.com/") {
		return Remote{}, nil
	}
	u, err := url.Parse("https://" + location)
	if err != nil {
		return Remote{}, fmt.Errorf("an address of GitHub that is no URL: %w", err)
	}
	parts := strings.SplitN(strings.TrimPrefix(u.Path, "/"), "/", 3)
	if len(parts) < 2 {
		return Remote{}, errors.New("addresses of GitHub have the form github.com/OWNER/REPOSITORY")
	}
	found := Remote{}
	if len(parts) == 3 {
		found.Subdir = parts[2]
	}
	u.Path, u.RawPath = withGitSuffix("/"+parts[0]+"/"+parts[1]), ""
	found.Package = "git::" + u.String()
	return found, nil
}

// detectBitbucket knows bitbucket.org/owner/repository.
func detectBitbucket(location string) (Remote, error) {
	if !strings.HasPrefix(location, "bitbucket.org/") {
		return Remote{}, nil
	}
	u, err := url.Parse("https://" + location)
	if err != nil {
		return Remote{}, fmt.Errorf("an address of Bitbucket that is no URL: %w", err)
	}
	u.Path, u.RawPath = withGitSuffix(u.Path), ""
	return Remote{Package: "git::" + u.String()}, nil
}

func withGitSuffix(path string) string {
	if strings.HasSuffix(path, ".git") {
		return path
	}
	return path + ".git"
}

// sshLocation is how git lets one write a path on a host. Only with the
// user "git" it means a repository for sure.
var sshLocation = par.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^git@([^:/\[\]@]+):/?(.+)$`) })

// detectSSH knows git@host:path.
func detectSSH(location string) (Remote, error) {
	match := sshLocation().FindStringSubmatch(location)
	if match == nil {
		return Remote{}, nil
	}
	path, query, _ := strings.Cut(match[2], "?")
	u := url.URL{Scheme: "ssh", User: url.User("git"), Host: match[1], Path: "/" + path}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Remote{}, fmt.Errorf("the query of %q: %w", location, err)
	}
	u.RawQuery = values.Encode()
	return Remote{Package: "git::" + u.String()}, nil
}

// detectGoogleStorage knows www.googleapis.com/storage/v1/bucket/object.
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

// detectS3 knows s3.amazonaws.com/bucket/key and bucket.s3.amazonaws.com/key,
// and the same with regions.
func detectS3(location string) (Remote, error) {
	host, key, found := strings.Cut(location, "/")
	labels, isAmazon := strings.CutSuffix(host, ".amazonaws.com")
	if !found || !isAmazon {
		return Remote{}, nil
	}
	switch parts := strings.Split(labels, "."); len(parts) {
	case 1:
		return storage("s3", "https://"+host+"/"+key)
	case 2: // the bucket first, whatever the two words are
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
		return Remote{}, fmt.Errorf("an address of a storage service that is no URL: %w", err)
	}
	return Remote{Package: forced + "::" + u.String()}, nil
}

// detectFile knows absolute paths. Only slashes count: what an address means
// doesn't depend on the system.
func detectFile(location string) (Remote, error) {
	if !strings.HasPrefix(location, "/") {
		return Remote{}, nil
	}
	return Remote{Package: "file://" + location}, nil
}

// harmless are the parameters of package addresses whose values are no secrets.
var harmless = []string{"archive", "checksum", "depth", "digest", "ref", "rev", "tag"}

// shown returns an address as messages show it: without the login that the URL of a
// repository may hold.
func shown(address Address) string {
	remote, ok := address.(Remote)
	if !ok {
		return address.String()
	}
	forced, location := SplitForced(remote.Package)
	u, err := url.Parse(location)
	if err != nil || u.Opaque != "" { // such as a host with a port, and no scheme
		return withoutLogin(remote.String())
	}
	remote.Package = hosts.RedactURL(u, harmless...)
	if forced != "" {
		remote.Package = forced + "::" + remote.Package
	}
	return remote.String()
}

// Redact returns a source address, or what was meant for one, as it may stand in
// messages: without a login. One that has no place for a login is as it was written.
func Redact(source string) string {
	address, err := parseComplete(source)
	if err != nil {
		return withoutLogin(source)
	}
	if _, ok := address.(Remote); !ok {
		return source // no place for a login
	}
	return shown(address)
}

var login = par.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`//[^/\s]*@|^[^/\s@]*:[^/\s@]*@`) })

// withoutLogin takes the login, and the values of a query, out of what looks
// like a URL and isn't one.
func withoutLogin(text string) string {
	text, query, asks := strings.Cut(text, "?")
	text = login().ReplaceAllString(text, "//REDACTED@")
	if asks {
		text += hosts.RedactURL(&url.URL{RawQuery: query}, harmless...)
	}
	return text
}
