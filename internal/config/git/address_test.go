package git

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

var goodURLs = []string{
	"https://example.com/a.git", "http://u:p@example.com/a?x=y", "ssh://git@example.com:22/a", "git://example.com/a", "git+ssh://example.com/a",
	"HTTPS://example.com/a", "file:///srv/a", "git@example.com:a/b.git", "example.com:a", "git@[::1]:a", "[::1]:a", "https://[::1]:8443/a",
	"https://-token@example.com/a", "https://example.com/a b;$(touch x)", "file:///srv/::/a",
}

var badURLs = []string{
	"", "-u", "--upload-pack=touch x", "ext::sh -c x", "fd::3", "foo::bar", "::x", "a-b+c.d::x", "codecommit::eu-west-1://x",
	"foo://x", "ftp://x/y", "ext://x", "javascript://x", "://x", "ssh://-oProxyCommand=x/y", "ssh://u@-oProxyCommand=x/y", "-oProxyCommand=x:y", "u@-oProxyCommand=x:y", "ssh://u@v@-x/y",
	"https://example.com/\x00", "https://example.com/\n", "https://example.com/a\r", "relative/path", "./x", "../x", "x", strings.Repeat("/a", maxAddressBytes),
}

func TestAddress_URLs(t *testing.T) {
	t.Parallel()
	good := goodURLs
	if runtime.GOOS == "windows" {
		good = append(good, `C:\srv\a`)
	} else {
		good = append(good, "/srv/a", "/srv/a:b", "/srv/::a")
	}
	for _, url := range good {
		must.Succeed(t, checkURL(url), url)
	}
	for _, url := range badURLs {
		must.Fail(t, (Request{URL: url}).check(), ErrAddress, url)
	}
	for _, ref := range []string{"-x", "--upload-pack=x", "a\nb", "a\x00", strings.Repeat("a", maxAddressBytes+1)} {
		must.Fail(t, (Request{URL: good[0], Ref: ref}).check(), ErrAddress, "ref", ref)
	}
}

// Invalid addresses are refused before git is started.
func TestAddress_RefusedRequestsStartNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t).count()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a transport that is started may wait for ever
	defer cancel()
	for _, url := range badURLs {
		must.Fail(t, must.ErrorOf(b.checkout(ctx, Request{URL: url})), ErrAddress, url)
	}
	must.Equal(t, b.runs()["all"], 0)
}

func TestAddress_IdentityIsWithoutALogin(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://u:p@example.com/a?x=y": "https://example.com/a?x=y", "http://t@example.com/a": "http://example.com/a",
		"ssh://git@example.com/a": "ssh://git@example.com/a", "git@example.com:a": "git@example.com:a", "file:///a": "file:///a", "https://%zz@x/": "https://%zz@x/",
	} {
		must.Equal(t, identity(url), want, url)
	}
}

func TestAddress_MessagesHoldNoSecrets(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://user:s3cret@example.com/a?token=s3cret": "https://example.com/a?token=REDACTED", "https://s3cret@example.com/a": "https://example.com/a",
		"git@example.com:a/b": "git@example.com:a/b", "/srv/a@b/c": "/srv/a@b/c", "https://u:s3%63ret@example.com/a": "https://example.com/a",
		"https://u:s3cret@[bad/a?x=s3cret": "https://REDACTED@[bad/a?x=REDACTED", "s3cret@example.com:a/b": "REDACTED@example.com:a/b",
		"ssh://deploy@example.com/a": "ssh://deploy@example.com/a",
	} {
		must.Equal(t, shownURL(url), want, url)
		said := quote("hint: x\nCloning 50%\rfatal: unable to access '"+url+"/': \x1b[31ms3cret no\nfatal: https://other:hidden@example.org/x\n", url)
		for _, secret := range []string{"s3cret", "s3%63ret", "hidden", "\x1b", "hint", "50%", "\n"} {
			if strings.Contains(said, secret) && strings.Contains(url, "s3") {
				t.Errorf("%s: %q is said in %q", url, secret, said)
			}
		}
		must.Contain(t, said, "unable to access", url)
		must.Contain(t, said, "example.org", url)
	}
	if said := quote(strings.Repeat("line\n", 100)+strings.Repeat("x", 9999), "https://example.com"); len(said) > saidLines*(lineBytes+2) {
		t.Errorf("%d bytes are quoted", len(said))
	}
}

func FuzzCheck(f *testing.F) {
	for i, url := range append(goodURLs[:len(goodURLs):len(goodURLs)], badURLs...) {
		f.Add(url, fmt.Sprint("v", i), "../c")
	}
	f.Add("https://example.com/a", "-x", "./../../c/")
	f.Fuzz(func(t *testing.T, url, ref, child string) {
		_, _ = shownURL(url), identity(url)
		if said := quote(child, url); strings.ContainsAny(said, "\n\r\x1b\x00") {
			t.Errorf("%q is said", said)
		}
		if (Request{URL: url, Ref: ref}).check() != nil {
			return
		}
		for _, text := range []string{url, ref} {
			if strings.HasPrefix(text, "-") || strings.ContainsAny(text, "\x00\n\r") {
				t.Errorf("%q is accepted", text)
			}
		}
		if i := strings.Index(url, "::"); i >= 0 && !strings.ContainsAny(url[:i], "/:@[]") && !filepath.IsAbs(url) {
			rest := strings.Trim(url[:i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
			if rest == "" {
				t.Errorf("%q is accepted", url)
			}
		}
		_, _ = submoduleURL(url, child)
	})
}
