package oci

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/oci/ocitest"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/remote"
)

func TestMain(m *testing.M) {
	peertest.MoreAtOnce() // publishers pause more than they compute
	goleak.VerifyTestMain(m)
}

var (
	linux   = getproviders.Platform{OS: "linux", Arch: "amd64"}
	windows = getproviders.Platform{OS: "windows", Arch: "arm64"}
	plan9   = getproviders.Platform{OS: "plan9", Arch: "arm"}
	widget  = noError(getproviders.Terraform("").ParseProvider("example.com/acme/widget"))
	v1      = version("1.0.0")
)

func noError[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func version(text string) getproviders.Version { return noError(getproviders.ParseVersion(text)) }

// started is a registry with its client.
type started struct {
	ocitest.Registry
	client *Client
	at     Repository
	source *Source
}

// start starts a registry, with a login or without.
func start(t *testing.T, login bool) started {
	t.Helper()
	s := started{Registry: ocitest.Start(t, providertest.NewCA(), login)}
	s.client = &Client{HTTP: s.Client}
	s.at = noError(ParseRepository(s.Host + "/providers/acme/widget"))
	s.source = &Source{Client: s.client, Repository: func(getproviders.Provider) (Repository, error) { return s.at, nil }}
	return s
}

// platforms are the platforms of most tests' version.
func (s started) platforms(t *testing.T) []getproviders.Platform {
	t.Helper()
	return must.Get(s.source.Describe(widget).Platforms(t.Context(), widget, v1))(t)
}

// target returns a package of pseudo-random bytes.
func target(plat getproviders.Platform, content string) remote.Release {
	return remote.Release{Platform: plat, ZH: getproviders.ZH(sha256.Sum256([]byte(content))), H1: "h1:" + getproviders.Hash(base64.StdEncoding.EncodeToString(make([]byte, 32))),
		Archive: io.NewSectionReader(strings.NewReader(content), 0, int64(len(content)))}
}

func release(v string, targets ...remote.Release) Release {
	return Release{Provider: widget, Version: version(v), Targets: targets}
}

func (s started) push(t *testing.T, v string, targets ...remote.Release) {
	t.Helper()
	must.Succeed(t, s.client.Push(t.Context(), s.at, release(v, targets...)))
}

// read reads a package from an offset.
func read(t *testing.T, s started, v string, plat getproviders.Platform, offset int64) (getproviders.Package, string) {
	t.Helper()
	pkg := must.Get(s.source.Package(t.Context(), widget, version(v), plat))(t)
	opened := must.Get(pkg.Location.(getproviders.Archive).Open(t.Context(), offset))(t)
	defer opened.Body.Close()
	content := must.Get(io.ReadAll(opened.Body))(t)
	must.Equal(t, opened.Size, opened.Offset+int64(len(content)))
	return pkg, string(content)
}

func TestSource_ReadsWhatWasPushed(t *testing.T) {
	t.Parallel()
	s := start(t, false)
	must.Fail(t, must.ErrorOf(s.source.Versions(t.Context(), widget)), getproviders.ErrNotFound)
	s.push(t, "1.0.0", target(linux, "archive one"))
	s.push(t, "1.1.0+build.1", target(linux, "archive two"))
	s.push(t, "1.0.0", target(windows, "archive three"), target(linux, "archive one"))
	must.Equal(t, fmt.Sprint(must.Get(s.source.Versions(t.Context(), widget))(t).Versions), "[1.0.0 1.1.0+build.1]")
	must.EqualSlices(t, must.Get(s.source.Describe(widget).Platforms(t.Context(), widget, v1))(t), []getproviders.Platform{linux, windows})
	pkg, content := read(t, s, "1.0.0", linux, 0)
	if content != "archive one" || pkg.SourceURL != "oci://"+s.at.String() || pkg.Source != "OCI repository "+s.at.String() ||
		pkg.Trust.ExpectedSHA256 != sha256.Sum256([]byte("archive one")) || len(pkg.Trust.ListedHashes) != 2 || !s.source.Describe(widget).Owns(t.Context(), widget, pkg.SourceURL) {
		t.Errorf("%q of %+v", content, pkg)
	}
	must.Fail(t, must.ErrorOf(pkg.Trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sha256.Sum256(nil), H1: target(linux, "").H1})), getproviders.ErrAuthentication)
	_, rest := read(t, s, "1.1.0+build.1", linux, 8)
	must.Equal(t, rest, "two", "the rest")
	must.Fail(t, must.ErrorOf(s.source.Package(t.Context(), widget, version("2.0.0"), linux)), getproviders.ErrVersionNotFound)
	must.Fail(t, must.ErrorOf(s.source.Package(t.Context(), widget, version("1.1.0+build.1"), windows)), getproviders.ErrPlatformMissing)
}

// TestPush_SendsNothingTwice compares the files of the registry: existing ones aren't written again, and an archive
// isn't replaced.
func TestPush_SendsNothingTwice(t *testing.T) {
	t.Parallel()
	s := start(t, false)
	s.push(t, "1.0.0", target(linux, "archive one"), target(windows, "archive two"))
	before := s.files(t)
	again := target(windows, "archive two")
	again.Archive = io.NewSectionReader(strings.NewReader(""), 0, again.Archive.Size()) // nothing can be read of it
	s.push(t, "1.0.0", again)
	must.EqualSlices(t, before, s.files(t))
	err := s.client.Push(t.Context(), s.at, release("1.0.0", target(linux, "another")))
	must.Contain(t, err, ":1.0.0 has another archive for linux_amd64: ")
	pushed, _, err := s.client.Pushed(t.Context(), s.at, v1)
	if err != nil || len(pushed) != 2 || pushed[0].ZH != target(linux, "archive one").ZH || pushed[0].H1 == "" {
		t.Errorf("%+v, %v", pushed, err)
	}
}

// files are those of the repository, with the times at which they were written.
func (s started) files(t *testing.T) (all []string) {
	t.Helper()
	must.Succeed(t, filepath.Walk(filepath.Join(s.Dir, "data/docker/registry/v2/repositories", s.at.Name), func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			all = append(all, fmt.Sprint(path, info.ModTime()))
		}
		return err
	}))
	return all
}

// TestPush_StartsABrokenUploadAgain lets the registry reject the digests of the first two uploads, as it does if an
// upload has duplicate bytes.
func TestPush_StartsABrokenUploadAgain(t *testing.T) {
	t.Parallel()
	s := start(t, false)
	var broken, uploads atomic.Int32
	pusher := &Client{HTTP: before(s.Client, func(r *http.Request) *http.Response {
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/blobs/uploads/") || uploads.Add(1) > broken.Load() {
			return nil
		}
		return reply(r, http.StatusBadRequest, `{"errors": [{"code": "DIGEST_INVALID", "message": "provided digest did not match uploaded content"}]}`)
	})}
	push := func(v string) error {
		return pusher.Push(t.Context(), s.at, release(v, target(linux, "archive "+v)))
	}
	broken.Store(2)
	must.Succeed(t, push("1.0.0"))
	_, content := read(t, s, "1.0.0", linux, 0)
	must.Equal(t, content, "archive 1.0.0")
	uploads.Store(0)
	broken.Store(1000)
	if err := push("2.0.0"); err == nil || !strings.Contains(err.Error(), "digest did not match") || uploads.Load() > 10 {
		t.Errorf("after %d uploads: %v", uploads.Load(), err)
	}
}

func TestLogins_AreSentWhereTheyBelong(t *testing.T) {
	t.Parallel()
	known := Login{Username: ocitest.Username, Password: ocitest.Password}
	s := start(t, true)
	s.client.Logins = (&Logins{Blocks: []LoginBlock{{Prefix: s.Host, Login: Login{Username: "x", Password: "y"}}, {Prefix: s.Host + "/providers/acme", Login: known}}}).Find
	s.push(t, "1.0.0", target(linux, "archive one"))
	_, content := read(t, s, "1.0.0", linux, 0)
	must.Equal(t, content, "archive one")
	for name, logins := range map[string]*Logins{
		"none": {}, "another host's": {Blocks: []LoginBlock{{Prefix: "example.com", Login: known}}},
		"a wrong one": {Blocks: []LoginBlock{{Prefix: s.Host, Login: Login{Username: ocitest.Username, Password: "secret1"}}}},
	} {
		source := *s.source
		source.Client = &Client{HTTP: s.Client, Logins: logins.Find}
		_, err := source.Versions(t.Context(), widget)
		must.Fail(t, err, hosts.ErrUnauthorized, name)
		must.NotContain(t, err.Error(), "secret1", name)
	}
}

func TestLogins_AreFoundAsOpenTofuFindsThem(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(home, name)
		must.Succeed(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)))
		return path
	}
	encoded := func(login string) string { return base64.StdEncoding.EncodeToString([]byte(login)) }
	write(".config/containers/auth.json", `{"auths": {"a.example/team": {"auth": "`+encoded("podman:p")+`"}, "b.example": {}}}`)
	write(".docker/config.json", `{"auths": {"a.example": {"auth": "`+encoded("docker:p:q")+`"}, "bad.example": {"auth": "`+encoded("nothing")+`"}}, "credsStore": "../x"}`)
	named := write("named.json", `{"auths": {"a.example/team/x": {"auth": "`+encoded("named:p")+`"}}}`)
	ambient := &Logins{Ambient: true, HomeDir: home, GOOS: "linux"}
	blocks := &Logins{Ambient: true, HomeDir: home, GOOS: "linux", Blocks: []LoginBlock{{Prefix: "a.example/team", Login: Login{Username: "block"}}}}
	for _, test := range []struct {
		logins    *Logins
		host, rep string
		want, err string
	}{
		{ambient, "a.example", "team/widget", "podman", ""}, {ambient, "a.example", "teams/widget", "docker", ""}, {ambient, "a.example", "team", "podman", ""},
		{blocks, "a.example", "team/widget", "block", ""}, {blocks, "a.example", "other", "docker", ""},
		{&Logins{HomeDir: home}, "a.example", "team", "", ""}, {ambient, "bad.example", "x", "", "no username"}, {ambient, "c.example", "x", "", "can't be the name"},
		{&Logins{Files: []string{named}, HomeDir: home}, "a.example", "team/x/y", "named", ""},
		{&Logins{Files: []string{named + "x"}}, "a.example", "team", "", "there is no file"},
	} {
		login, err := test.logins.Find(t.Context(), Repository{Registry: test.host, Name: test.rep})
		if login.Username != test.want || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s/%s: %q, %v, want %q, %q", test.host, test.rep, login.Username, err, test.want, test.err)
		}
	}
}

// TestPush_MakesWhatSkopeoReads lets another program read the tag, the manifests and the blob.
func TestPush_MakesWhatSkopeoReads(t *testing.T) {
	t.Parallel()
	skopeo := peertest.LookProgram(t, "skopeo")
	s := start(t, false)
	pushed := release("1.0.0+build", target(linux, "archive one"), target(windows, "archive two"))
	pushed.Signed = signedBy(newSigner(), pushed.Version, map[getproviders.Platform]string{linux: "archive one", windows: "archive two"})
	must.Succeed(t, s.client.Push(t.Context(), s.at, pushed))
	certificates := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(certificates, "ca.crt"), noError(os.ReadFile(s.CAFile)), 0o600))
	cmd := exec.CommandContext(t.Context(), skopeo, "inspect", "--raw", "--cert-dir="+certificates, "docker://"+s.at.String()+":1.0.0_build")
	var said bytes.Buffer
	cmd.Stderr, cmd.Env = &said, []string{"HOME=" + t.TempDir(), "XDG_RUNTIME_DIR=" + t.TempDir()}
	out, err := cmd.Output()
	if err != nil || strings.Count(string(out), "application/vnd.opentofu.provider-target") != 2 || !strings.Contains(string(out), `"os":"windows"`) {
		t.Fatalf("%v: %s%s", err, out, &said)
	}
	copied := t.TempDir()
	copying := exec.CommandContext(t.Context(), skopeo, "copy", "--all", "--src-cert-dir="+certificates, "docker://"+s.at.String()+":1.0.0_build", "dir:"+copied)
	copying.Env = cmd.Env
	if out, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Quay refuses configurations of unknown types, and Google's registry an empty one, so it is "{}".
	for _, blob := range []string{"archive one", "{}", string(pushed.Signed.Sums)} {
		must.Equal(t, string(noError(os.ReadFile(filepath.Join(copied, fmt.Sprintf("%x", sha256.Sum256([]byte(blob))))))), blob)
	}
}

func TestModule_IsFoundByTagAndDigest(t *testing.T) {
	t.Parallel()
	s := start(t, false)
	at := Repository{Registry: s.Host, Name: "modules/net"}
	digest := s.PushModule(t, at.Name, "latest", []byte("archive one"))
	other := s.PushModule(t, at.Name, "1.0.0", []byte("archive two"))
	s.push(t, "1.0.0", target(linux, "archive one"))
	for _, test := range []struct{ tag, digest, want string }{{"", "", "archive one"}, {"1.0.0", "", "archive two"}, {"", digest, "archive one"}, {"", other, "archive two"}} {
		archive, sum, err := s.client.Module(t.Context(), at, test.tag, test.digest)
		must.Succeed(t, err)
		opened := must.Get(archive.Open(t.Context(), 0))(t)
		content, err := io.ReadAll(opened.Body)
		opened.Body.Close()
		if string(content) != test.want || err != nil || sum != sha256.Sum256([]byte(test.want)) {
			t.Errorf("%+v: %q, %v", test, content, err)
		}
	}
	for _, test := range []struct {
		at          Repository
		tag, digest string
		want        string
	}{
		{at, "2.0.0", "", "there is no such package"}, {Repository{Registry: s.Host, Name: "modules/other"}, "", "", "there is no such package"},
		{at, "", "sha256:x", "the digest"}, {s.at, "1.0.0", "", "media type"}, {Repository{Registry: s.Host, Name: "Not/A/Name"}, "", "", "invalid address"},
	} {
		must.Contain(t, must.ErrorOf(s.client.Module(t.Context(), test.at, test.tag, test.digest)), test.want)
	}
}
