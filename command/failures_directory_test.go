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
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// calling is a configuration that calls a module.
func calling(source string) map[string]string {
	return files{"main.tf": "module \"net\" {\n  source = \"" + source + "\"\n}\n"}
}

// repository makes a git repository beside the working directory, and makes the configuration
// call a module in it.
func repository(query string) func(*failing) {
	return func(w *failing) {
		dir := filepath.Join(filepath.Dir(w.dir), "repository")
		must.Write(w, filepath.Join(dir, "main.tf"), "locals {}\n")
		for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "a"}} {
			cmd := exec.Command("git", args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				w.Fatalf("git: %v\n%s", err, out)
			}
		}
		w.set("PATH=" + os.Getenv("PATH"))
		must.Write(w, filepath.Join(w.dir, "main.tf"), calling("git::file://" + filepath.ToSlash(dir) + query)["main.tf"])
	}
}

// terraformSays puts a terraform on PATH that prints a text.
func terraformSays(text string) func(*failing) {
	return func(w *failing) {
		path := filepath.Join(w.home, "terraform")
		must.Write(w, path, "#!/bin/sh\necho '"+text+"'\n")
		must.Succeed(w, os.Chmod(path, 0o755))
	}
}

func directoryFailures() map[string]failure {
	old := files{"main.tf": "terraform {\n  required_version = \"< 1.0\"\n}\n"}
	backend := func(body string) map[string]string {
		return files{"main.tf": "terraform {\n  backend " + body + "\n}\n"}
	}
	return map[string]failure{
		"git_ref_missing":            {setUp: repository("?ref=v1.2.3")},
		"git_directory_missing":      {setUp: repository("//modules/net?ref=main")},
		"git_directory_pattern":      {setUp: repository("//[?ref=main")},
		"git_repository_missing":     {files: calling("git::file:///no/such/repository"), setUp: func(w *failing) { w.set("PATH=" + os.Getenv("PATH")) }},
		"git_missing":                {files: calling("git::https://example.com/net.git")},
		"module_directory_missing":   {files: calling("./net")},
		"module_not_installed":       {files: calling("./net")},
		"module_not_in_the_registry": {files: calling("tf.example.com/acme/net/aws")},
		"module_without_such_a_version": {files: files{"main.tf": "module \"net\" {\n  source  = \"tf.example.com/acme/net/aws\"\n  version = \"~> 2.0\"\n}\n"},
			setUp: func(w *failing) {
				w.registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "aws", Version: "1.0.0", Location: "net.tgz"})
			}},
		"module_archive_missing": {files: calling("tf.example.com/acme/net/aws"), setUp: func(w *failing) {
			w.registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "aws", Version: "1.0.0", Location: w.registry.BaseURL() + "/net.tgz"})
		}},
		"module_source_mistaken":        {files: calling("net")},
		"syntax":                        {files: files{"main.tf": "terraform {\n  required_providers {\n"}},
		"required_version":              {files: old},
		"required_version_of_a_program": {files: old, env: "TFDEPS_TERRAFORM_VERSION=", setUp: terraformSays(`{"terraform_version": "1.5.7"}`)},
		"required_version_of_a_named_program": {files: old, env: "TFDEPS_TERRAFORM_VERSION=", setUp: func(w *failing) {
			terraformSays(`{"terraform_version": "1.5.7"}`)(w)
			w.set("PATH=", "TFDEPS_TERRAFORM_PATH="+filepath.Join(w.home, "terraform"))
		}},
		"required_version_assumed":             {files: old, env: "TFDEPS_TERRAFORM_VERSION="},
		"required_version_of_a_silent_program": {files: old, env: "TFDEPS_TERRAFORM_VERSION=", setUp: terraformSays("hello")},
		"terraform_too_old":                    {files: old, env: "TFDEPS_TERRAFORM_VERSION=", setUp: terraformSays("Terraform v0.12.31")},
		"terraform_too_old_by_a_variable":      {files: files{"main.tf": "terraform {\n  required_version = \"~> 1.0\"\n}\n"}, env: "TFDEPS_TERRAFORM_VERSION=0.13.7"},
		"constraint_invalid":                   {files: requiring(tiny + " about 1")},
		"source_invalid":                       {files: requiring("https://tf.example.com/acme/tiny")},
		"lock_file_broken":                     {files: with(".terraform.lock.hcl", "provider {\n")},
		"source_is_a_page_of_the_registry":     {files: requiring("https://registry.terraform.io/providers/hashicorp/aws/latest")},
		"lock_file_of_a_version_that_is_gone": {files: with(".terraform.lock.hcl", locked("0.9.0", "zh:"+zeros64)),
			setUp: versions("1.0.0")},
		"lock_file_with_a_merge_conflict": {files: with(".terraform.lock.hcl", "<<<<<<< HEAD\n"+locked("1.0.0", "zh:"+zeros64))},
		"lock_file_is_a_directory":        {files: with(".terraform.lock.hcl/x", "")},
		"state_damaged":                   {files: with("terraform.tfstate", "x")},
		"state_of_another_version":        {files: with("terraform.tfstate", "{\"version\": 9}")},
		"module_record_damaged":           {files: and(calling("./net"), ".terraform/modules/modules.json", "{")},
		"backend_record_damaged":          {files: with(".terraform/terraform.tfstate", "{")},
		"cli_config_is_a_directory":       {env: "TF_CLI_CONFIG_FILE=/"},
		"filesystem_mirror_missing":       {cli: "provider_installation {\n  filesystem_mirror {\n    path = \"/no/such/mirror\"\n  }\n}\n"},
		"backend_config_unquoted":         {files: and(backend("\"local\" {}"), "prod.hcl", "path = here\n")},
		"backend_config_file_missing":     {files: backend("\"local\" {}")},
		"backend_config_misspelt":         {files: backend("\"s3\" {}")},
		"backend_unknown":                 {files: backend("\"s4\" {}")},
		"cli_config_unquoted_path":        {cli: "plugin_cache_dir = \"/tmp/cache\"\nprovider_installation {\n  filesystem_mirror {\n    path = /usr/share/providers\n  }\n}\n"},
		"cli_config_unquoted_value":       {cli: "plugin_cache_dir = $HOME/.terraform.d/plugin-cache\n"},
		"cli_config_unclosed_block":       {cli: "provider_installation {\n  direct {\n"},
		"cli_config_with_a_token":         {cli: "credentials \"tf.example.com\" {\n  token = secret\n}\n"},
		"cli_config_unknown_method":       {cli: "provider_installation {\n  mirror {\n    url = \"https://example.com/\"\n  }\n}\n"},
		"cli_config_missing":              {env: "TF_CLI_CONFIG_FILE=/no/such/cli.tfrc"},
		"credentials_helper_missing":      {files: requiring("localhost/acme/tiny"), cli: "credentials_helper \"vault\" {}\nhost \"localhost\" {\n  services = {}\n}\n"},
	}
}

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

// git replaces git by a program that fails with this text.
func git(said string) func(*failing) {
	return func(w *failing) {
		must.Succeed(w, peertest.WriteProgram(filepath.Join(w.home, "git"), []byte("#!/bin/sh\necho \""+said+"\" >&2\nexit 128\n")))
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
