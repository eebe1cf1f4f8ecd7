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

// mirroring sets the URL that providers mirror writes to, whose port differs each time.
func mirroring(prepare func(*failing), url func(*failing) string) func(*failing) {
	return func(w *failing) {
		prepare(w)
		w.set("TF_CLI_ARGS_providers_mirror='" + url(w) + "'")
	}
}

// s3At returns the URL of a bucket on a server.
func s3At(server func(*failing) string) func(*failing) string {
	return func(w *failing) string { return "s3://bucket/tfdeps?region=eu-west-1&endpoint=http://" + server(w) }
}

// imagesAt returns the URL of repositories of an OCI registry.
func imagesAt(server func(*failing) string) func(*failing) string {
	return func(w *failing) string { return "oci://" + server(w) + "/tfdeps/${namespace}/${type}" }
}

// mirroredBy sets an OCI registry as the mirror.
func mirroredBy(server func(*failing) string) func(*failing) {
	return func(w *failing) { w.set("TFDEPS_MIRROR=" + imagesAt(server)(w)) }
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

// bucketFailures are about buckets and registries of images.
func bucketFailures() map[string]failure {
	both, forbidden := requiring(tiny, widget), status(http.StatusForbidden)
	return map[string]failure{
		"mirror_to_a_bucket_with_a_parameter":            {setUp: installed},
		"mirror_to_a_bucket_refused":                     {setUp: mirroring(signedIn, s3At(closedPort))},
		"mirror_to_a_bucket_refused_for_all":             {files: both, setUp: mirroring(two, s3At(closedPort))},
		"mirror_to_a_bucket_403":                         {setUp: mirroring(signedIn, s3At(forbidden))},
		"mirror_to_a_bucket_403_for_all":                 {files: both, setUp: mirroring(two, s3At(forbidden))},
		"mirror_to_a_bucket_without_a_login":             {setUp: mirroring(installed, s3At(status(http.StatusOK)))},
		"mirror_to_a_registry_of_images_refused_for_all": {files: both, setUp: mirroring(two, imagesAt(closedPort))},
		"mirror_to_a_registry_of_images_403_for_all":     {files: both, setUp: mirroring(two, imagesAt(denied))},
		"registry_of_images_refused_for_all":             {files: both, setUp: mirroredBy(closedPort)},
		"registry_of_images_403_for_all":                 {files: both, setUp: mirroredBy(denied)},
		"bucket_403": {setUp: func(w *failing) {
			w.set("TFDEPS_MIRROR=" + s3At(forbidden)(w) + "&anonymous=true")
		}},
		"mirror_without_a_region": {setUp: installed},
	}
}
