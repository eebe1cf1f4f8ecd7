package fetch

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
)

const someSHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func TestSource_AddressesSayHowToFetch(t *testing.T) {
	for pkg, want := range map[string]string{
		"https://h/net":                            "http https://h/net",
		"https://h/net.tar.gz":                     "http https://h/net.tar.gz archive=tar.gz",
		"https://h/net.tbz2":                       "http https://h/net.tbz2 archive=tbz2",
		"https://h/net.gz":                         "http https://h/net.gz archive=gz",
		"https://h/net.tar":                        "http https://h/net.tar",
		"https://h/net.zip?x=2&a=%2B&x=1":          "http https://h/net.zip?x=2&a=%2B&x=1 archive=zip",
		"https://h/net?archive=zip":                "http https://h/net archive=zip",
		"https://h/net.zip?archive=tgz&x=1":        "http https://h/net.zip?x=1 archive=tgz",
		"https://h/net.zip?archive=false":          "http https://h/net.zip",
		"https://h/net.zip?archive=0":              "http https://h/net.zip",
		"https://h/net.zip?archive=true":           "http https://h/net.zip",
		"https://h/net.zip?archive=":               "http https://h/net.zip archive=zip",
		"https://h/net.zip?archive=rar":            "http https://h/net.zip",
		"https://h/net.zip?checksum=" + someSHA256: "http https://h/net.zip archive=zip sha256=" + someSHA256,
		"https://h/net.zip?checksum=SHA256:" + strings.ToUpper(someSHA256): "http https://h/net.zip archive=zip sha256=" + someSHA256,
		"https://h/net.zip?checksum=file:https://h/SUMS":                   "http https://h/net.zip archive=zip file=https://h/SUMS",
		"http::https://h/net.zip":                                          "http https://h/net.zip archive=zip",
		"https::http://h/net.zip":                                          "http http://h/net.zip archive=zip",
		"git::https://h/net.git":                                           "git https://h/net.git",
		"git::https://h/net.git?depth=3&x=%2B&ref=v1":                      "git https://h/net.git?x=%2B ref=v1 depth=3",
		"git::https://h/net.git?depth=many":                                "git https://h/net.git",
		"git::ssh://git@h/net.git?sshkey=a2V5&ref=a%2Fb":                   "git ssh://git@h/net.git ref=a/b sshKey=key",
		"git::https://h/r.git/net.zip?ref=v1":                              "git https://h/r.git/net.zip archive=zip ref=v1",
		"git://h/net":                                                      "git git://h/net",
		"hg::https://h/net?rev=tip":                                        "hg https://h/net ref=tip",
		"s3::https://s3.amazonaws.com/b/net.zip?version=1":                 "s3 https://s3.amazonaws.com/b/net.zip?version=1 archive=zip",
		"gcs::https://www.googleapis.com/storage/v1/b/net":                 "gcs https://www.googleapis.com/storage/v1/b/net",
		"file:///dir/net":                                                  "file /dir/net",
		"file:///dir/a b":                                                  "file /dir/a b",
		"file:///dir/a%20b.zip":                                            "file /dir/a b.zip archive=zip",
		"file::file:///dir/net":                                            "file /dir/net",
	} {
		from := must.Get(parseSource(pkg, false))(t)
		got := []string{from.kind, filepath.ToSlash(from.url)}
		for _, field := range [][2]string{
			{"archive", from.archive}, {"ref", from.ref}, {"depth", strings.TrimPrefix(strconv.Itoa(from.depth), "0")}, {"sshKey", from.sshKey}, {from.checksum.kind, from.checksum.value},
		} {
			if field[1] != "" {
				got = append(got, strings.Join(field[:], "="))
			}
		}
		must.Equal(t, strings.Join(got, " "), want, pkg)
	}
}

// Rules about modules go by these, so no spelling may make a repository something else.
func TestTargetOf_RepositoriesInEverySpelling(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for pkg, want := range map[string]Target{
		"git::https://h/r":                       {Kind: "git", URL: "https://h/r"},
		"git://h/r":                              {Kind: "git", URL: "git://h/r"},
		"GIT://h/r":                              {Kind: "git", URL: "git://h/r"},
		"git://h/r?ref=main&ref=" + commit:       {Kind: "git", URL: "git://h/r", Ref: "main"},
		"git::https://h/r?ref=%zz&ref=" + commit: {Kind: "git", URL: "https://h/r", Ref: commit},
		"git::https://h/r?r%65f=main":            {Kind: "git", URL: "https://h/r", Ref: "main"},
		"git::https://h/r/net.zip?ref=main":      {Kind: "git", URL: "https://h/r/net.zip", Ref: "main"},
		"git::ssh://git@h/r?ref=" + commit:       {Kind: "git", URL: "ssh://git@h/r", Ref: commit},
		"hg::https://h/r?rev=tip":                {Kind: "hg", URL: "https://h/r", Ref: "tip"},
		"https://h/net.zip?ref=" + commit:        {Kind: "http", URL: "https://h/net.zip?ref=" + commit},
		"file:///srv/r":                          {Kind: "file", URL: filepath.FromSlash("/srv/r")},
	} {
		must.Equal(t, must.Get(TargetOf(pkg))(t), want, pkg)
	}
	must.Fail(t, must.ErrorOf(TargetOf("git::git::https://h/r")), ErrAddress)
}

func TestSource_AddressesThatAreRefused(t *testing.T) {
	for _, pkg := range []string{
		"", "net", "ftp://h/net", "ssh://git@h/net.git", "rsync::https://h/net", "git::ext::sh -c id", "git::git::https://h/net",
		"http::https::https://h/net.zip", "https:opaque", "https:///net.zip", "s3::file:///net", "gcs::ftp://h/net", "hg::ext://h",
		"file::https://h/net", "https://h/net.zip\n", "git::https://h/net\x00", "git::https://h/net.git?ref=--upload-pack%3Dx",
		"git::https://h/net.git?ref=a%0ab", "hg::https://h/net?rev=--config%3Dx", "git::ssh://-oProxyCommand=x/net", "git::ssh://-x@h/net",
		"git::https://h/net.git?sshkey=*", "https://h/net?checksum=" + someSHA256, "git::https://h/net.git?checksum=" + someSHA256,
		"https://h/net.zip?checksum=md5:" + someSHA256, "https://h/net.zip?checksum=crc:00", "https://h/net.zip?checksum=zz",
		"https://h/net.zip?checksum=00", "https://h/%zz.zip", "https://user:secret@h:port/net.zip",
	} {
		got, err := parseSource(pkg, false)
		must.Fail(t, err, ErrAddress, pkg, got)
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: a login is in the error: %v", pkg, err)
		}
	}
}

func TestSource_ServersDontLeadToFiles(t *testing.T) {
	for _, pkg := range []string{"file:///etc", "git::file:///etc", "hg::file:///etc", "file::file:///etc", "git::/etc"} {
		must.Fail(t, must.ErrorOf(parseSource(pkg, true)), ErrAddress, pkg)
	}
	must.Equal(t, must.Get(parseSource("https://h/net.tar", true))(t).archive, "tar", "a server may name a tar archive")
}

func FuzzParseOrigin(f *testing.F) {
	for _, pkg := range []string{"https://h/net.zip?archive=tgz", "git::ssh://git@h/n.git?ref=v1&depth=1&sshkey=a2V5", "file:///a%20b", "git::ext::x", "git::-", "git::--upload-pack=x", "git::", "git::?ref=v1", "file://", "://", "hg::https://h/n?rev=-x", "https://h/n.zip?checksum=file:%zz"} {
		f.Add(pkg, false)
		f.Add(pkg, true)
	}
	f.Fuzz(func(t *testing.T, pkg string, hopped bool) {
		modules.Redact(pkg)
		from, err := parseSource(pkg, hopped)
		if err != nil {
			must.Fail(t, err, ErrAddress, pkg)
			return
		}
		if strings.HasPrefix(from.ref, "-") || strings.HasPrefix(from.url, "-") || hasControl(from.ref) || from.kind != "file" && hasControl(from.url) {
			t.Errorf("%q: %+v", pkg, from)
		}
		if from.checksum != (checksum{}) && from.archive == "" {
			t.Errorf("%q: a checksum of a directory", pkg)
		}
		if from.kind == "git" && from.parsed().String() == "" {
			t.Errorf("%q: %q isn't parsed again", pkg, from.url)
		}
	})
}
