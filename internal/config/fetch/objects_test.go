package fetch

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

func TestFetch_ObjectsOfAService(t *testing.T) {
	t.Parallel()
	objects := files{"net.zip": string(zipped(t, someTree)), "net/../../evil": ""}
	for name, content := range someTree {
		objects["dir/"+name] = content
	}
	s := storagetest.StartS3(t, objects)
	at := "s3::" + s.BaseURL() + "/bucket/"
	const login = "?aws_access_key_id=id&aws_access_key_secret=hunter2&region=eu-west-1"
	f := &Fetcher{}
	defer f.Close()
	brings(t, f, at+"net.zip"+login, "")
	brings(t, f, at+"dir"+login, "")
	for path, want := range map[string]error{"other.zip": ErrNotFound, "other": ErrNotFound, "net.zip/../evil": nil} {
		err := refused(t, f, at+path+login)
		if want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", path, err)
		}
	}
	small := &Fetcher{bounds: bounds{download: 50}}
	defer small.Close()
	must.Contain(t, refused(t, small, at+"net.zip"+login), "larger than 50 bytes")
	for _, pkg := range []string{"gcs::https://example.com/net.zip", "s3::" + s.BaseURL() + "/net.zip"} {
		must.Fail(t, refused(t, f, pkg), ErrAddress)
	}
}

func TestFetch_ObjectsHaveAPlaceBelowThePrefix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prefix  string
		objects map[string]string
		want    map[string]string // nil: it is refused
	}{
		{"d", map[string]string{"d/a": "1", "d/b/c": "2"}, map[string]string{"a": "1", "b/c": "2"}},
		{"d/", map[string]string{"d/a": "1", "dd/a": "2"}, map[string]string{"a": "1"}},
		{"", map[string]string{"d/a": "1", "b": "2"}, map[string]string{"d/a": "1", "b": "2"}},
		{"d", map[string]string{"d": "1", "d/a": "2", "d/b/": ""}, map[string]string{"a": "2"}},
		{"d", map[string]string{"d": "1"}, nil},
		{"d", map[string]string{"d/a": "1", "dd/a": "2"}, map[string]string{"a": "1"}},
		{"d", map[string]string{"dd/a": "2"}, nil},
		{"d", map[string]string{"d/../../a": "1"}, nil},
		{"d", map[string]string{"d/a": "1", "d/b": "2", "d/c": "3", "d/d": "4"}, nil},
	} {
		s := storagetest.StartS3(t, c.objects)
		f := &Fetcher{bounds: bounds{files: 3}}
		pkg := "s3::" + s.BaseURL() + "/bucket/" + c.prefix + "?aws_access_key_id=i&aws_access_key_secret=s"
		if c.want == nil {
			refused(t, f, pkg)
		} else {
			sameTree(t, fetched(t, f, get(pkg)), c.want)
		}
		must.Succeed(t, f.Close())
	}
}

func TestFetch_ObjectsOfGoogle(t *testing.T) {
	t.Parallel()
	archive := zipped(t, someTree)
	gcs := storagetest.StartGCS(t)
	gcs.Add("net.zip", archive)
	gcs.Add("dirx/main.tf", nil) // beside the directory
	for name, content := range someTree {
		gcs.Add("dir/"+name, []byte(content))
	}
	const at = "gcs::https://www.googleapis.com/storage/v1/bucket/"
	f := &Fetcher{Environ: []string{gcs.Variable()}}
	defer f.Close()
	brings(t, f, at+"net.zip?checksum="+sumOf(archive), "")
	brings(t, f, at+"dir", "")
	for _, path := range []string{"other.zip", "other"} {
		must.Fail(t, refused(t, f, at+path), ErrNotFound, path)
	}
	small := &Fetcher{Environ: f.Environ, bounds: bounds{download: 50}}
	defer small.Close()
	must.Contain(t, refused(t, small, at+"net.zip"), "larger than 50 bytes")
}

// TestFetch_ObjectsOfARealServer uses another project's server, which implements the protocol of S3
// and checks signatures.
func TestFetch_ObjectsOfARealServer(t *testing.T) {
	t.Parallel()
	archive := zipped(t, someTree)
	versity := storagetest.StartVersity(t, "bucket")
	must.WriteAll(t, filepath.Join(versity.Dir, "bucket/dir"), someTree)
	must.WriteAll(t, filepath.Join(versity.Dir, "bucket"), files{"net.zip": string(archive)})
	at := "s3::" + versity.Endpoint + "/bucket/"
	f := &Fetcher{}
	defer f.Close()
	const login = "?region=eu-west-1&aws_access_key_id=id&aws_access_key_secret="
	brings(t, f, at+"net.zip"+login+"hunter22&checksum="+sumOf(archive), "")
	brings(t, f, at+"dir"+login+"hunter22", "")
	for path, want := range map[string]error{
		"other.zip" + login + "hunter22": ErrNotFound, "other" + login + "hunter22": ErrNotFound,
		"net.zip" + login + "hunter23": getproviders.ErrUnauthorized, "dir" + login + "hunter23": getproviders.ErrUnauthorized,
	} {
		err := refused(t, f, at+path)
		must.Fail(t, err, want, path)
		must.NotContain(t, err.Error(), "hunter", path)
	}
}

// TestFetch_ServersGetNoLoginOfAWS has a page and a foreign module with a server of their own, and a profile.
func TestFetch_ServersGetNoLoginOfAWS(t *testing.T) {
	home := t.TempDir()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "hunter2", "AWS_PROFILE": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
		"AWS_CONFIG_FILE": filepath.Join(home, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(home, "credentials"),
	} {
		t.Setenv(name, value)
	}
	must.WriteAll(t, home, map[string]string{"credentials": "[private]\naws_access_key_id = private\naws_secret_access_key = s\naws_session_token = hunter2\n"})
	archive := zipped(t, someTree)
	var logins []string
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/page") {
			w.Header().Set("X-Terraform-Get", "s3::http://"+r.Host+"/bucket/net.zip"+strings.TrimPrefix(r.URL.Path, "/page"))
			return
		}
		if login := r.Header.Get("Authorization") + r.Header.Get("X-Amz-Security-Token"); login != "" {
			logins = append(logins, r.URL.Path+": "+login)
		}
		_, _ = w.Write(archive)
	})}))(t)
	t.Cleanup(server.Close)
	for _, pkg := range []string{server.BaseURL() + "/page", server.BaseURL() + "/page%3Faws_profile=private", "s3::" + server.BaseURL() + "/bucket/net.zip", "s3::" + server.BaseURL() + "/bucket/net.zip?aws_profile=private"} {
		f := &Fetcher{}
		brings(t, f, pkg, "")
		f.Close()
	}
	must.Len(t, logins, 0, "the server was sent")
}
