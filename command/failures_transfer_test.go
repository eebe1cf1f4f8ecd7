package command

import (
	"net/http"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// installed makes a lock file, and a cache with its packages. The environment has no variable of AWS.
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

// signedIn sets keys of AWS.
func signedIn(w *failing) {
	installed(w)
	w.Setenv("AWS_ACCESS_KEY_ID", "a")
	w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
}

// two puts two packages into the cache.
func two(w *failing) {
	w.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
	signedIn(w)
}

// remote sets the URL of cache push or cache pull, whose port differs each time. A pull runs on a machine without packages.
func remote(prepare func(*failing), command string, url func(*failing) string) func(*failing) {
	return func(w *failing) {
		prepare(w)
		if command == "pull" {
			w.set("TFDEPS_CACHE_DIR=" + filepath.Join(w.dir, "empty"))
		}
		w.set("TF_CLI_ARGS_cache_" + command + "='" + url(w) + "'")
	}
}

// s3At returns the URL of a bucket on a server.
func s3At(server func(*failing) string) func(*failing) string {
	return func(w *failing) string { return "s3://bucket/tfdeps?region=eu-west-1&endpoint=http://" + server(w) }
}

// imagesAt returns the URL of a repository of an OCI registry.
func imagesAt(server func(*failing) string) func(*failing) string {
	return func(w *failing) string { return "oci://" + server(w) + "/tfdeps" }
}

// mirroredBy sets an OCI registry as the mirror.
func mirroredBy(server func(*failing) string) func(*failing) {
	return func(w *failing) { w.set("TFDEPS_MIRROR=oci://" + server(w) + "/tfdeps/${namespace}/${type}") }
}

// status starts a server that answers all requests with a status, and returns its address and port.
func status(code int) func(*failing) string {
	return func(w *failing) string {
		return strings.Replace(serverOf(w, code, providertest.ServerOptions{Plain: true}), "localhost", "127.0.0.1", 1)
	}
}

// denied starts such a server with TLS and a name, which answers 403.
func denied(w *failing) string {
	return serverOf(w, http.StatusForbidden, providertest.ServerOptions{CA: trustedCA})
}

func serverOf(w *failing, code int, opts providertest.ServerOptions) string {
	opts.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(code) })
	server := must.Get(providertest.NewServer(opts))(w)
	w.Cleanup(server.Close)
	return server.Host()
}

// transferFailures are about cache push, cache pull and buckets.
func transferFailures() map[string]failure {
	both, forbidden := requiring(tiny, widget), status(http.StatusForbidden)
	return map[string]failure{
		"cache_pull_from_a_missing_directory":                {setUp: installed},
		"cache_push_scheme":                                  {setUp: installed},
		"cache_push_parameter":                               {setUp: installed},
		"cache_push_without_a_region":                        {setUp: installed},
		"cache_push_offline":                                 {setUp: installed},
		"cache_push_refused":                                 {setUp: remote(signedIn, "push", s3At(closedPort))},
		"cache_push_refused_for_all":                         {files: both, setUp: remote(two, "push", s3At(closedPort))},
		"cache_push_403_for_all":                             {files: both, setUp: remote(two, "push", s3At(forbidden))},
		"cache_push_to_a_registry_of_images_refused_for_all": {files: both, setUp: remote(two, "push", imagesAt(closedPort))},
		"cache_push_to_a_registry_of_images_403_for_all":     {files: both, setUp: remote(two, "push", imagesAt(denied))},
		"cache_pull_403_for_all":                             {files: both, setUp: remote(two, "pull", imagesAt(denied))},
		"registry_of_images_refused_for_all":                 {files: both, setUp: mirroredBy(closedPort)},
		"registry_of_images_403_for_all":                     {files: both, setUp: mirroredBy(denied)},
		"cache_push_without_a_login":                         {setUp: remote(installed, "push", s3At(status(http.StatusOK)))},
		"cache_push_403":                                     {setUp: remote(signedIn, "push", s3At(forbidden))},
		"cache_push_to_a_web_server":                         {setUp: remote(installed, "push", func(w *failing) string { return "https://" + w.registry.Host() + "/tfdeps" })},
		"cache_pull_refused":                                 {setUp: remote(installed, "pull", func(w *failing) string { return "https://" + closedPort(w) + "/tfdeps" })},
		"cache_pull_403":                                     {setUp: remote(installed, "pull", func(w *failing) string { return s3At(forbidden)(w) + "&anonymous=true" })},
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
