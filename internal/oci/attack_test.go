package oci

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// TestLogins_ReachNoOtherRealm has token services that must not receive a login: over plain http, at another host that
// is this machine or a cloud's metadata service, by a redirect, and one given by a host to which the registry had
// redirected.
func TestLogins_ReachNoOtherRealm(t *testing.T) {
	t.Parallel()
	var told atomic.Int64
	listen := func(secure bool) *httptest.Server {
		handler := func(w http.ResponseWriter, r *http.Request) {
			if body := make([]byte, 1<<10); r.Header.Get("Authorization") != "" || r.Body != nil && func() bool { n, _ := r.Body.Read(body); return n > 0 }() {
				told.Add(1)
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+r.Host+`/token",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
		if secure {
			return serve(t, handler)
		}
		server := httptest.NewServer(http.HandlerFunc(handler))
		t.Cleanup(server.Close)
		return server
	}
	plain, other := listen(false), listen(true)
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "127.0.0.2", 1)
	for name, login := range map[string]Login{"a password": {Username: "robot", Password: "p"}, "a token": {RefreshToken: "secret"}} {
		for _, realm := range []string{plain.URL + "/token", elsewhere + "/token", "https://169.254.169.254/token", "https://localhost:1/token", "file:///etc/passwd", "redirect", "blob"} {
			var registry *httptest.Server
			registry = serve(t, func(w http.ResponseWriter, r *http.Request) {
				at := realm
				switch {
				case r.URL.Path == "/token":
					http.Redirect(w, r, elsewhere+"/token", http.StatusTemporaryRedirect)
					return
				case realm == "blob":
					http.Redirect(w, r, elsewhere+"/blob", http.StatusTemporaryRedirect)
					return
				case realm == "redirect":
					at = registry.URL + "/token"
				}
				w.Header().Set("WWW-Authenticate", `Bearer realm="`+at+`",service="x"`)
				w.WriteHeader(http.StatusUnauthorized)
			})
			source := sourceOf(registry, login)
			if available, err := source.Versions(t.Context(), widget); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s for %s: %v, %v", name, realm, available, err)
			}
		}
	}
	must.Equal(t, told.Load(), 0)
}

// TestLogins_StartNoOtherProgram has a Docker configuration whose helpers are paths.
func TestLogins_StartNoOtherProgram(t *testing.T) {
	t.Parallel()
	at := Repository{Registry: "r.example", Name: "x"}
	for _, name := range []string{"../../bin/sh", "/bin/sh", `..\evil`, "x/y", "x\x00y", "a b\n", "\x1b]0;x\a"} {
		logins := &Logins{Helper: name}
		if login, err := logins.Find(t.Context(), at); err == nil || strings.ContainsAny(err.Error(), "\x1b\x00") && !strings.Contains(err.Error(), "docker-credential-") {
			t.Errorf("%q: %+v, %v", name, login, err)
		}
	}
}

// TestLogins_HelpersOfDocker runs a helper with credentials, one without and one that fails. The working
// directory has a helper, too, and PATH contains it.
func TestLogins_HelpersOfDocker(t *testing.T) {
	if !peertest.RunsScripts() {
		t.Skip("the helper is a shell script")
	}
	work, bin := t.TempDir(), t.TempDir()
	script := `#!/bin/sh
		read -r host
		case "$host" in
		https://user.example) printf '{"ServerURL": "x", "Username": "a", "Secret": "b"}' ;;
		https://token.example) printf '{"Username": "<token>", "Secret": "t"}' ;;
		https://odd.example) printf 'b' ;;
		https://endless.example) printf '{"Username": "a", "Secret": "'; head -c 2000000 /dev/zero | tr '\0' x; printf '"}' ;;
		https://nothing.example) echo 'credentials not found in native keychain'; exit 1 ;;
		https://late.example) printf '{"Secret": "b"}'; exit 1 ;;
		*) printf 'lock\033ed\n'; pwd >&2; exit 1 ;;
		esac`
	for dir, script := range map[string]string{bin: script, work: "#!/bin/sh\nexit 0"} {
		must.Succeed(t, peertest.WriteProgram(filepath.Join(dir, "docker-credential-aid"), []byte(script)))
	}
	t.Chdir(work)
	path := strings.Join([]string{".", bin, os.Getenv("PATH")}, string(os.PathListSeparator))
	logins := &Logins{Helper: "aid", Environ: append(os.Environ(), "PATH="+path)}
	for host, want := range map[string]Login{"user.example": {Username: "a", Password: "b"}, "token.example": {RefreshToken: "t"}, "nothing.example": {}} {
		must.Equal(t, must.Get(logins.Find(t.Context(), Repository{Registry: host, Name: "x"}))(t), want, host)
	}
	for host, want := range map[string]string{"odd.example": "not a JSON object", "endless.example": "not a JSON object", "late.example": ": exit status 1: ", "failing.example": "locked " + filepath.ToSlash(filepath.VolumeName(work)) + "/"} {
		_, err := logins.Find(t.Context(), Repository{Registry: host, Name: "x"})
		if !errors.Is(err, hosts.ErrUnauthorized) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestArchive_RefusesAnotherPart lets a registry send a part from another offset than the requested one: it would be
// appended to the existing part.
func TestArchive_RefusesAnotherPart(t *testing.T) {
	t.Parallel()
	plain := newFake()
	index, manifest := plain.documents()
	base := answering(map[string][]byte{"/manifests/1.0.0": index, "/manifests/" + string(digest.FromBytes(manifest)): manifest, string(digest.FromString(plain.layer)): []byte(plain.layer)},
		http.Header{"Content-Type": {plain.manifestType}})
	for part, want := range map[string]int64{"bytes 3-10/11": 3, "bytes 4-10/11": -1, "bytes 30-40/41": -1, "": -1, "3-10/11": -1} {
		client := &http.Client{Transport: storagetest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := base.Transport.RoundTrip(r)
			if err == nil && strings.Contains(r.URL.Path, "/blobs/") {
				resp.StatusCode = http.StatusPartialContent
				resp.Header.Set("Content-Range", part)
			}
			return resp, err
		})}
		pkg := must.Get(sourceAt(client).Package(t.Context(), widget, v1, linux))(t)
		opened, err := pkg.Location.(getproviders.Archive).Open(t.Context(), 3)
		if (err == nil) != (want >= 0) || err == nil && opened.Offset != want {
			t.Errorf("%q: from byte %d, %v", part, opened.Offset, err)
		}
		if err == nil {
			opened.Body.Close()
		}
	}
}
