package command

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"

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

// transferFailures are about cache push, cache pull and buckets.
func transferFailures() []failure {
	one := requiring(tiny)
	s3At := func(w *failing, address string) string {
		return "s3://bucket/tfdeps?region=eu-west-1&endpoint=http://" + address
	}
	return []failure{
		{name: "cache_push_without_a_lock_file", files: one, args: "cache push s3://bucket"},
		{name: "cache_pull_from_a_missing_directory", files: one, args: "cache pull shared", setUp: installed},
		{name: "cache_push_scheme", files: one, args: "cache push ftp://host/tfdeps", setUp: installed},
		{name: "cache_push_parameter", files: one, args: "cache push s3://bucket/tfdeps?regoin=eu-west-1", setUp: installed},
		{name: "cache_push_without_a_region", files: one, args: "cache push s3://bucket/tfdeps", setUp: installed},
		{name: "cache_push_offline", files: one, args: "cache push -offline s3://bucket/tfdeps", setUp: installed},
		{name: "cache_push_refused", files: one, args: "cache push", setUp: func(w *failing) {
			installed(w)
			w.Setenv("AWS_ACCESS_KEY_ID", "a")
			w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
			withRemote(w, "push", s3At(w, closedPort(w)))
		}},
		{name: "cache_push_refused_for_all", files: requiring(tiny, widget), args: "cache push", setUp: func(w *failing) {
			w.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
			installed(w)
			w.Setenv("AWS_ACCESS_KEY_ID", "a")
			w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
			withRemote(w, "push", s3At(w, closedPort(w)))
		}},
		{name: "cache_push_without_a_login", files: one, args: "cache push", setUp: func(w *failing) {
			installed(w)
			withRemote(w, "push", s3At(w, answeringAlways(w, 200)))
		}},
		{name: "cache_push_403", files: one, args: "cache push", setUp: func(w *failing) {
			installed(w)
			w.Setenv("AWS_ACCESS_KEY_ID", "a")
			w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
			withRemote(w, "push", s3At(w, answeringAlways(w, 403)))
		}},
		{name: "cache_push_to_a_web_server", files: one, args: "cache push", setUp: func(w *failing) {
			installed(w)
			withRemote(w, "push", "https://"+w.registry.Host()+"/tfdeps")
		}},
		{name: "cache_pull_refused", files: one, args: "cache pull", setUp: func(w *failing) {
			elsewhere(w)
			withRemote(w, "pull", "https://"+closedPort(w)+"/tfdeps")
		}},
		{name: "cache_pull_403", files: one, args: "cache pull", setUp: func(w *failing) {
			elsewhere(w)
			withRemote(w, "pull", s3At(w, answeringAlways(w, 403))+"&anonymous=true")
		}},
		{name: "cache_pull_damaged", files: one, args: "cache pull shared", setUp: func(w *failing) {
			installed(w)
			if _, err, code := w.main("cache", "push", "shared"); code != 0 {
				w.Fatal(err)
			}
			found, _ := filepath.Glob(filepath.Join(w.dir, "shared", "*", "*", "*", "*", "*", "*", "*.zip"))
			if len(found) != 1 {
				w.Fatal(found)
			}
			w.replace(filepath.Base(found[0]), "H1.zip")
			w.write(found[0], "no zip")
			w.set("TFDEPS_CACHE_DIR=" + filepath.Join(w.dir, "empty"))
		}},
		{name: "mirror_scheme", files: one, args: "providers mirror ftp://host/tfdeps"},
		{name: "mirror_without_a_region", files: one, args: "providers mirror s3://bucket/tfdeps", setUp: installed},
		{name: "mirror_first_scheme", files: one, args: "init -mirror=ftp://host/tfdeps"},
	}
}
