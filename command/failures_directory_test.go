package command

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// calling is a configuration that calls a module.
func calling(source string) map[string]string {
	return map[string]string{"main.tf": "module \"net\" {\n  source = \"" + source + "\"\n}\n"}
}

// repository makes a git repository beside the working directory, and has the configuration
// call a module in it.
func repository(query string) func(*failing) {
	return func(w *failing) {
		dir := filepath.Join(filepath.Dir(w.dir), "repository")
		w.write(filepath.Join(dir, "main.tf"), "locals {}\n")
		for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "a"}} {
			cmd := exec.Command("git", args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				w.Fatalf("git: %v\n%s", err, out)
			}
		}
		w.set("PATH=" + os.Getenv("PATH"))
		w.write(filepath.Join(w.dir, "main.tf"), calling("git::file://" + filepath.ToSlash(dir) + query)["main.tf"])
	}
}

func directoryFailures() []failure {
	one := requiring(tiny)
	backend := func(body string) map[string]string {
		return map[string]string{"main.tf": "terraform {\n  backend " + body + "\n}\n"}
	}
	return []failure{
		{name: "git_ref_missing", setUp: repository("?ref=v1.2.3")},
		{name: "git_directory_missing", setUp: repository("//modules/net?ref=main")},
		{name: "git_repository_missing", files: calling("git::file:///no/such/repository"), setUp: func(w *failing) { w.set("PATH=" + os.Getenv("PATH")) }},
		{name: "git_missing", files: calling("git::https://example.com/net.git")},
		{name: "module_directory_missing", files: calling("./net")},
		{name: "module_not_in_the_registry", files: calling("tf.example.com/acme/net/aws")},
		{name: "module_without_such_a_version", files: map[string]string{"main.tf": "module \"net\" {\n  source  = \"tf.example.com/acme/net/aws\"\n  version = \"~> 2.0\"\n}\n"},
			setUp: func(w *failing) {
				w.registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "aws", Version: "1.0.0", Location: "net.tgz"})
			}},
		{name: "module_archive_missing", files: calling("tf.example.com/acme/net/aws"), setUp: func(w *failing) {
			w.registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "aws", Version: "1.0.0", Location: w.registry.BaseURL() + "/net.tgz"})
		}},
		{name: "module_source_mistaken", files: calling("net")},
		{name: "syntax", files: map[string]string{"main.tf": "terraform {\n  required_providers {\n"}},
		{name: "required_version", files: map[string]string{"main.tf": "terraform {\n  required_version = \"< 1.0\"\n}\n"}},
		{name: "constraint_invalid", files: requiring(tiny + " about 1")},
		{name: "source_invalid", files: requiring("https://tf.example.com/acme/tiny")},
		{name: "lock_file_broken", files: map[string]string{"main.tf": one["main.tf"], ".terraform.lock.hcl": "provider {\n"}},
		{name: "backend_config_file_missing", files: backend("\"local\" {}"), args: "init -backend-config=prod.hcl"},
		{name: "backend_config_misspelt", files: backend("\"s3\" {}"), args: "init -backend-config=buckett=a"},
		{name: "backend_unknown", files: backend("\"s4\" {}")},
		{name: "cli_config_unquoted_path", files: one, cli: "plugin_cache_dir = \"/tmp/cache\"\nprovider_installation {\n  filesystem_mirror {\n    path = /usr/share/providers\n  }\n}\n"},
		{name: "cli_config_unquoted_value", files: one, cli: "plugin_cache_dir = $HOME/.terraform.d/plugin-cache\n"},
		{name: "cli_config_unclosed_block", files: one, cli: "provider_installation {\n  direct {\n"},
		{name: "cli_config_with_a_token", files: one, cli: "credentials \"tf.example.com\" {\n  token = secret\n}\n"},
		{name: "cli_config_unknown_method", files: one, cli: "provider_installation {\n  mirror {\n    url = \"https://example.com/\"\n  }\n}\n"},
		{name: "cli_config_missing", files: one, args: "init -offline", env: []string{"TF_CLI_CONFIG_FILE=/no/such/cli.tfrc"}},
		{name: "credentials_helper_missing", files: requiring("localhost/acme/tiny"), cli: "credentials_helper \"vault\" {}\nhost \"localhost\" {\n  services = {}\n}\n"},
	}
}
