package command

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// callingTwo is a configuration that calls two modules.
func callingTwo(first, second string) map[string]string {
	return files{"main.tf": fmt.Sprintf("module \"one\" {\n  source = %q\n}\nmodule \"two\" {\n  source = %q\n}\n", first, second)}
}

// serving adds modules to the registry, one of whose kinds of answers is broken.
func serving(kind string, fault providertest.Fault) func(*failing) {
	return func(w *failing) {
		at := w.registry.AddArchive("net.zip", providertest.Zip(files{"main.tf": ""}))
		for _, name := range []string{"net", "dns"} {
			w.registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: name, System: "aws", Version: "1.0.0", Location: at})
		}
		w.registry.Break(kind, fault)
	}
}

// git has a program stand for git that ends with these words.
func git(said string) func(*failing) {
	return func(w *failing) {
		program := filepath.Join(w.home, "git")
		must.Write(w, program, "#!/bin/sh\necho \""+said+"\" >&2\nexit 128\n")
		must.Succeed(w, os.Chmod(program, 0o755))
	}
}

// certified has tf.example.com be a server whose certificate is valid at other times.
func certified(from, until time.Duration) func(*failing) {
	return func(w *failing) {
		key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(w)
		now := time.Now()
		about := &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
			NotBefore: now.Add(from), NotAfter: now.Add(until), IsCA: true, BasicConstraintsValid: true,
		}
		der := must.Get(x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key))(w)
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
		server.Config.ErrorLog = nil
		server.StartTLS()
		w.Cleanup(server.Close)
		must.Write(w, filepath.Join(w.home, "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
		at := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
		w.config(fmt.Sprintf("host \"tf.example.com\" {\n  services = {\n    \"providers.v1\" = %q\n    \"modules.v1\" = %q\n  }\n}\n", at+"/v1/providers/", at+"/v1/modules/"))
	}
}

func moduleFailures() map[string]failure {
	const net, dns = "tf.example.com/acme/net/aws", "tf.example.com/acme/dns/aws"
	page := providertest.Fault{Body: func([]byte) []byte { return []byte("<html>Sign in</html>") }}
	return map[string]failure{
		"module_registry_fails":         {files: callingTwo(net, dns), setUp: serving("module/versions", providertest.Fault{Status: 502})},
		"module_registry_wants_a_token": {files: callingTwo(net, dns), setUp: serving("module/versions", providertest.Fault{Status: 401})},
		"module_registry_refused": {files: calling(net), setUp: func(w *failing) {
			w.config(fmt.Sprintf("host \"tf.example.com\" {\n  services = { \"modules.v1\" = \"https://%s/v1/\" }\n}\n", closedPort(w)))
		}},
		"module_registry_not_found_by_name":              {files: callingTwo("registry..example.com/acme/net/aws", net)},
		"module_registry_with_an_old_certificate":        {files: calling(net), setUp: certified(-48*time.Hour, -24*time.Hour)},
		"module_registry_with_a_certificate_of_tomorrow": {files: calling(net), setUp: certified(24*time.Hour, 48*time.Hour)},
		"module_registry_answers_with_a_page":            {files: calling(net), setUp: serving("module/versions", page)},
		"module_archive_is_a_page":                       {files: calling(net), setUp: serving("module/archive", page)},
		"module_archive_cut":                             {files: calling(net), setUp: serving("module/archive", providertest.Fault{CutAfter: 10, NoRange: true})},
		"module_archive_behind_a_proxy": {files: calling("https://files.example.com/net.zip"), setUp: func(w *failing) {
			w.set("HTTPS_PROXY=http://" + status(http.StatusProxyAuthRequired)(w))
		}},
		"module_archive_without_the_directory": {files: calling(net + "//sub"), setUp: serving("", providertest.Fault{})},
		"git_without_a_key":                    {files: calling("git@git.example.com:acme/net.git"), setUp: git("git@git.example.com: Permission denied (publickey).")},
		"git_private":                          {files: calling("git::https://git.example.com/net.git"), setUp: git("fatal: could not read Username for 'https://git.example.com': terminal prompts disabled")},
		"git_login_refused":                    {files: calling("git::https://git.example.com/net.git"), setUp: git("fatal: Authentication failed for 'https://git.example.com/net.git/'")},
		"git_host_unknown":                     {files: calling("git::https://git.example.com/net.git"), setUp: git("fatal: unable to access 'https://git.example.com/net.git/': Could not resolve host: git.example.com")},
		"git_host_key":                         {files: calling("git@git.example.com:acme/net.git"), setUp: git("Host key verification failed.")},
		"git_proxy_wants_login":                {files: calling("git::https://git.example.com/net.git"), setUp: git("fatal: unable to access 'https://git.example.com/net.git/': CONNECT tunnel failed, response 407")},
		"module_variable_file_missing":         {files: calling("./${var.v}")},
		"module_calls_itself":                  {files: and(calling("./a"), "a/main.tf", calling("../b")["main.tf"], "b/main.tf", calling("../a")["main.tf"])},
	}
}
