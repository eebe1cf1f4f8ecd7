package fetch

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
)

const someSHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func TestSource_AddressesSayHowToFetch(t *testing.T) {
	for pkg, want := range map[string]packageSource{
		"https://h/net":                            {kind: "http", url: "https://h/net"},
		"https://h/net.tar.gz":                     {kind: "http", url: "https://h/net.tar.gz", archive: "tar.gz"},
		"https://h/net.tbz2":                       {kind: "http", url: "https://h/net.tbz2", archive: "tbz2"},
		"https://h/net.gz":                         {kind: "http", url: "https://h/net.gz", archive: "gz"},
		"https://h/net.tar":                        {kind: "http", url: "https://h/net.tar"},
		"https://h/net.zip?x=2&a=%2B&x=1":          {kind: "http", url: "https://h/net.zip?x=2&a=%2B&x=1", archive: "zip"},
		"https://h/net?archive=zip":                {kind: "http", url: "https://h/net", archive: "zip"},
		"https://h/net.zip?archive=tgz&x=1":        {kind: "http", url: "https://h/net.zip?x=1", archive: "tgz"},
		"https://h/net.zip?archive=false":          {kind: "http", url: "https://h/net.zip"},
		"https://h/net.zip?archive=0":              {kind: "http", url: "https://h/net.zip"},
		"https://h/net.zip?archive=true":           {kind: "http", url: "https://h/net.zip"},
		"https://h/net.zip?archive=":               {kind: "http", url: "https://h/net.zip", archive: "zip"},
		"https://h/net.zip?archive=rar":            {kind: "http", url: "https://h/net.zip"},
		"https://h/net.zip?checksum=" + someSHA256: {kind: "http", url: "https://h/net.zip", archive: "zip", checksum: checksum{"sha256", someSHA256}},
		"https://h/net.zip?checksum=SHA256:" + strings.ToUpper(someSHA256): {kind: "http", url: "https://h/net.zip", archive: "zip", checksum: checksum{"sha256", someSHA256}},
		"https://h/net.zip?checksum=file:https://h/SUMS":                   {kind: "http", url: "https://h/net.zip", archive: "zip", checksum: checksum{"file", "https://h/SUMS"}},
		"http::https://h/net.zip":                                          {kind: "http", url: "https://h/net.zip", archive: "zip"},
		"https::http://h/net.zip":                                          {kind: "http", url: "http://h/net.zip", archive: "zip"},
		"git::https://h/net.git":                                           {kind: "git", url: "https://h/net.git"},
		"git::https://h/net.git?depth=3&x=%2B&ref=v1":                      {kind: "git", url: "https://h/net.git?x=%2B", ref: "v1", depth: 3},
		"git::https://h/net.git?depth=many":                                {kind: "git", url: "https://h/net.git"},
		"git::ssh://git@h/net.git?sshkey=a2V5&ref=a%2Fb":                   {kind: "git", url: "ssh://git@h/net.git", ref: "a/b", sshKey: "key"},
		"git::https://h/r.git/net.zip?ref=v1":                              {kind: "git", url: "https://h/r.git/net.zip", archive: "zip", ref: "v1"},
		"git://h/net":                                                      {kind: "git", url: "git://h/net"},
		"hg::https://h/net?rev=tip":                                        {kind: "hg", url: "https://h/net", ref: "tip"},
		"s3::https://s3.amazonaws.com/b/net.zip?version=1":                 {kind: "s3", url: "https://s3.amazonaws.com/b/net.zip?version=1", archive: "zip"},
		"gcs::https://www.googleapis.com/storage/v1/b/net":                 {kind: "gcs", url: "https://www.googleapis.com/storage/v1/b/net"},
		"file:///dir/net":                                                  {kind: "file", url: filepath.FromSlash("/dir/net")},
		"file:///dir/a b":                                                  {kind: "file", url: filepath.FromSlash("/dir/a b")},
		"file:///dir/a%20b.zip":                                            {kind: "file", url: filepath.FromSlash("/dir/a b.zip"), archive: "zip"},
		"file::file:///dir/net":                                            {kind: "file", url: filepath.FromSlash("/dir/net")},
	} {
		must.Equal(t, must.Get(parseSource(pkg, false))(t), want, pkg)
	}
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
