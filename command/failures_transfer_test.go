package command

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// installed has a lock file, and a cache with what that selects. The environment says nothing of AWS.
func installed(w *failing) {
	versions("1.0.0")(w)
	if _, err, code := w.main("init"); code != 0 {
		w.Fatal(err)
	}
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		w.Setenv(name, "")
	}
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": filepath.Join(w.home, "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(w.home, "none"), "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1",
	} {
		w.Setenv(name, value)
	}
}

// elsewhere is another machine, which has the lock file alone.
func elsewhere(w *failing) {
	installed(w)
	w.set("TFDEPS_CACHE_DIR=" + filepath.Join(w.dir, "empty"))
}

// withRemote has cache push or cache pull name a URL whose port differs each time.
func withRemote(w *failing, command, url string) {
	w.set("TF_CLI_ARGS_cache_" + command + "='" + url + "'")
}

// answeringAlways is a server that answers all requests with a status, and returns its host and port.
func answeringAlways(w *failing, status int) string {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(status) }))
	w.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// imagesAnswering is a registry of images that answers all requests with a status, and returns its host and port.
func imagesAnswering(w *failing, status int) string {
	certificate, key, err := trustedCA.ServerPEM()
	must.Succeed(w, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(status) }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{must.Get(tls.X509KeyPair(certificate, key))(w)}}
	server.StartTLS()
	w.Cleanup(server.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	return "localhost:" + port
}

// two has two packages in the cache.
func two(w *failing) {
	w.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
	installed(w)
	w.Setenv("AWS_ACCESS_KEY_ID", "a")
	w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
}

// transferFailures are about cache push, cache pull and buckets.
func transferFailures() map[string]failure {
	s3At := func(w *failing, address string) string {
		return "s3://bucket/tfdeps?region=eu-west-1&endpoint=http://" + address
	}
	return map[string]failure{
		"cache_pull_from_a_missing_directory": {setUp: installed},
		"cache_push_scheme":                   {setUp: installed},
		"cache_push_parameter":                {setUp: installed},
		"cache_push_without_a_region":         {setUp: installed},
		"cache_push_offline":                  {setUp: installed},
		"cache_push_refused": {setUp: func(w *failing) {
			installed(w)
			w.Setenv("AWS_ACCESS_KEY_ID", "a")
			w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
			withRemote(w, "push", s3At(w, closedPort(w)))
		}},
		"cache_push_refused_for_all": {files: requiring(tiny, widget), setUp: func(w *failing) {
			two(w)
			withRemote(w, "push", s3At(w, closedPort(w)))
		}},
		"cache_push_403_for_all": {files: requiring(tiny, widget), setUp: func(w *failing) {
			two(w)
			withRemote(w, "push", s3At(w, answeringAlways(w, 403)))
		}},
		"cache_push_to_a_registry_of_images_refused_for_all": {files: requiring(tiny, widget), setUp: func(w *failing) {
			two(w)
			withRemote(w, "push", "oci://"+closedPort(w)+"/tfdeps")
		}},
		"cache_push_to_a_registry_of_images_403_for_all": {files: requiring(tiny, widget), setUp: func(w *failing) {
			two(w)
			withRemote(w, "push", "oci://"+imagesAnswering(w, 403)+"/tfdeps")
		}},
		"cache_pull_403_for_all": {files: requiring(tiny, widget), setUp: func(w *failing) {
			two(w)
			w.set("TFDEPS_CACHE_DIR=" + filepath.Join(w.dir, "empty"))
			withRemote(w, "pull", "oci://"+imagesAnswering(w, 403)+"/tfdeps")
		}},
		"registry_of_images_refused_for_all": {files: requiring(tiny, widget), setUp: func(w *failing) {
			w.set("TFDEPS_MIRROR=oci://" + closedPort(w) + "/tfdeps/${namespace}/${type}")
		}},
		"registry_of_images_403_for_all": {files: requiring(tiny, widget), setUp: func(w *failing) {
			w.set("TFDEPS_MIRROR=oci://" + imagesAnswering(w, 403) + "/tfdeps/${namespace}/${type}")
		}},
		"cache_push_without_a_login": {setUp: func(w *failing) {
			installed(w)
			withRemote(w, "push", s3At(w, answeringAlways(w, 200)))
		}},
		"cache_push_403": {setUp: func(w *failing) {
			installed(w)
			w.Setenv("AWS_ACCESS_KEY_ID", "a")
			w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
			withRemote(w, "push", s3At(w, answeringAlways(w, 403)))
		}},
		"cache_push_to_a_web_server": {setUp: func(w *failing) {
			installed(w)
			withRemote(w, "push", "https://"+w.registry.Host()+"/tfdeps")
		}},
		"cache_pull_refused": {setUp: func(w *failing) {
			elsewhere(w)
			withRemote(w, "pull", "https://"+closedPort(w)+"/tfdeps")
		}},
		"cache_pull_403": {setUp: func(w *failing) {
			elsewhere(w)
			withRemote(w, "pull", s3At(w, answeringAlways(w, 403))+"&anonymous=true")
		}},
		"cache_pull_damaged": {setUp: func(w *failing) {
			installed(w)
			if _, err, code := w.main("cache", "push", "shared"); code != 0 {
				w.Fatal(err)
			}
			found, _ := filepath.Glob(filepath.Join(w.dir, "shared/*/*/*/*/*/*/*.zip"))
			if len(found) != 1 {
				w.Fatal(found)
			}
			w.replace(filepath.Base(found[0]), "H1.zip")
			must.Write(w, found[0], "no zip")
			w.set("TFDEPS_CACHE_DIR=" + filepath.Join(w.dir, "empty"))
		}},
		"mirror_without_a_region": {setUp: installed},
	}
}
