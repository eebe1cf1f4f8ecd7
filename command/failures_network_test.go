package command

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// requiring is a configuration that requires providers: "tf.example.com/acme/tiny", or with a constraint
// "tf.example.com/acme/tiny ~> 1.0".
func requiring(providers ...string) map[string]string {
	var b strings.Builder
	b.WriteString("terraform {\n  required_providers {\n")
	for i, p := range providers {
		source, constraint, _ := strings.Cut(p, " ")
		fmt.Fprintf(&b, "    p%d = { source = %q", i, source)
		if constraint != "" {
			fmt.Fprintf(&b, ", version = %q", constraint)
		}
		b.WriteString(" }\n")
	}
	b.WriteString("  }\n}\n")
	return files{"main.tf": b.String()}
}

// with is a configuration that requires tiny, and more files: names, each with its content behind it.
func with(more ...string) map[string]string { return and(requiring(tiny), more...) }

// and adds more files to those of a configuration.
func and(files files, more ...string) map[string]string {
	for i := 0; i+1 < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

const (
	tiny   = "tf.example.com/acme/tiny"
	widget = "tf.example.com/acme/widget"
)

// closedPort is an address on which nothing listens.
func closedPort(w *failing) string {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(w)
	defer listener.Close()
	return listener.Addr().String()
}

// answering sets the answer to all requests of a kind.
func answering(kind string, fault providertest.Fault) func(*failing) {
	return func(w *failing) {
		w.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "tiny", Version: "1.0.0"})
		w.registry.Break(kind, fault)
	}
}

// refusing answers all requests of a kind with a status only.
func refusing(kind string, status int) func(*failing) {
	return answering(kind, providertest.Fault{Status: status})
}

// mirror configures a network mirror at a URL.
func (w *failing) mirror(url string) {
	w.config(fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", url))
}

// another is a server whose certificate is of an authority that isn't trusted here.
func another(w *failing) *providertest.Registry {
	other := must.Get(providertest.NewRegistry(providertest.Options{}))(w)
	w.Cleanup(other.Close)
	return other
}

// throughProxy sends requests through a proxy. The registry has the name of another machine, because
// requests to this one use no proxy.
func throughProxy(proxy string) func(*failing) {
	return func(w *failing) {
		w.redirect("https://registry.example.com/v1/providers/")
		w.set("HTTPS_PROXY=" + proxy)
	}
}

// says is a status with a text of the server's own.
func says(status int, text string) providertest.Fault {
	return providertest.Fault{Status: status, Body: func([]byte) []byte { return []byte(text) }}
}

func networkFailures() map[string]failure {
	two := requiring(tiny, widget)
	closed := func(w *failing) { w.redirect("https://" + closedPort(w) + "/v1/providers/") }
	untrusted := func(w *failing) { w.redirect(another(w).ServiceURL()) }
	return map[string]failure{
		"server_says_why":                     {files: requiring(tiny), setUp: answering("versions", says(http.StatusGone, "moved to \x1b[31mtf2.example.com ::error::x"))},
		"server_says_why_there_is_no_login":   {files: requiring(tiny), setUp: answering("package", says(http.StatusForbidden, `{"errors": ["the plan of acme has ended"]}`))},
		"server_says_why_there_is_no_archive": {files: requiring(tiny), setUp: answering("archive", says(http.StatusConflict, "the archive is quarantined"))},
		"refused":                             {files: two, setUp: closed},
		"refused_discovery": {setUp: func(w *failing) {
			for name, content := range requiring(closedPort(w) + "/acme/tiny") {
				must.Write(w, filepath.Join(w.dir, name), strings.ReplaceAll(content, "127.0.0.1", "localhost"))
			}
		}},
		"dns":                              {files: two, setUp: func(w *failing) { w.redirect("https://registry..example.com/v1/providers/") }},
		"certificate_of_another_authority": {files: two, setUp: untrusted},
		"certificate_file_missing":         {files: two, env: "SSL_CERT_FILE=/no/such/ca.pem", setUp: untrusted, unix: true},
		"certificate_file_unset":           {files: two, env: "SSL_CERT_FILE=", setUp: untrusted},
		"not_https": {files: two, setUp: func(w *failing) {
			w.redirect("https://" + status(http.StatusNotFound)(w) + "/v1/providers/")
		}},
		"timeout":         {files: two, env: "TF_REGISTRY_CLIENT_TIMEOUT=1", setUp: answering("versions", providertest.Fault{Delay: 20 * time.Second})},
		"proxy_refused":   {files: two, setUp: func(w *failing) { throughProxy("http://user:secret@" + closedPort(w))(w) }},
		"proxy_is_no_url": {files: two, env: "HTTPS_PROXY=::", setUp: closed},
		"proxy_dns":       {files: two, setUp: throughProxy("http://proxy..example.com:3128")},
		"proxy_wants_login": {files: two, setUp: func(w *failing) {
			throughProxy("http://" + status(http.StatusProxyAuthRequired)(w))(w)
		}},
		"401_without_token": {files: two, setUp: refusing("versions", 401)},
		"401_with_token":    {files: two, env: "TF_TOKEN_tf_example_com=secret", setUp: refusing("versions", 401)},
		"403":               {files: two, setUp: refusing("versions", 403)},
		"404":               {files: requiring(tiny, widget)},
		"404_misspelt":      {files: and(requiring("tf.example.com/acme/tinyy"), ".terraform.lock.hcl", locked("1.0.0", "zh:"+zeros64))},
		"404_of_a_default_address": {files: requiring("hashicorp/widget"), setUp: func(w *failing) {
			w.config(fmt.Sprintf("host \"registry.terraform.io\" {\n  services = { \"providers.v1\" = %q }\n}\n", w.registry.ServiceURL()))
		}},
		"429":              {files: two, setUp: answering("versions", providertest.Fault{Status: 429, RetryAfter: "0"})},
		"500":              {files: two, setUp: refusing("versions", 500)},
		"503":              {files: two, setUp: refusing("versions", 503)},
		"archive_403":      {setUp: refusing("archive", 403)},
		"archive_404":      {setUp: refusing("archive", 404)},
		"archive_503":      {setUp: refusing("archive", 503)},
		"archive_cut":      {setUp: answering("archive", providertest.Fault{CutAfter: 40, NoRange: true})},
		"answer_is_a_page": {setUp: answering("versions", providertest.Fault{Body: func([]byte) []byte { return []byte("<html>Sign in</html>") }})},
		"no_registry":      {files: requiring("localhost/acme/tiny"), setUp: func(w *failing) { w.config("host \"localhost\" {\n  services = {}\n}\n") }},
		"registry_as_a_mirror": {files: two, setUp: func(w *failing) {
			versions("1.0.0")(w)
			w.mirror(w.registry.ServiceURL())
		}},
		"host_of_a_registry_as_a_mirror": {setUp: func(w *failing) {
			versions("1.0.0")(w)
			w.mirror(w.registry.BaseURL() + "/")
		}},
		"mirror_as_a_registry": {setUp: func(w *failing) { w.redirect(mirrorBeside(w).URL()) }},
		"redirects_without_end": {files: two, setUp: func(w *failing) {
			answering("versions", providertest.Fault{Redirect: w.registry.ServiceURL() + "acme/tiny/versions"})(w)
		}},
		"answer_cut_in_two":   {setUp: answering("versions", providertest.Fault{Body: func(b []byte) []byte { return b[:len(b)/2] }})},
		"410":                 {files: two, setUp: refusing("versions", 410)},
		"certificate_expired": {files: two, setUp: certified(-48*time.Hour, -24*time.Hour)},
		"mirror_404": {files: requiring(widget), setUp: func(w *failing) {
			w.mirror(mirrorBeside(w).URL())
		}},
	}
}

// mirrorBeside starts a mirror with one package. Its CA is that of the registry.
func mirrorBeside(w *failing) *providertest.Mirror {
	mirror := must.Get(providertest.NewMirror(providertest.MirrorOptions{CA: trustedCA}))(w)
	w.Cleanup(mirror.Close)
	mirror.Add("tf.example.com", providertest.PackageSpec{Namespace: "acme", Type: "tiny", Version: "1.0.0"})
	return mirror
}
