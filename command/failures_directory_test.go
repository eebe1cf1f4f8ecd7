package command

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// calling is a configuration that calls a module.
func calling(source string) map[string]string {
	return files{"main.tf": "module \"net\" {\n  source = \"" + source + "\"\n}\n"}
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

// terraformSays puts a terraform on PATH that prints a text.
func terraformSays(text string) func(*failing) {
	return func(w *failing) {
		path := filepath.Join(w.home, "terraform")
		w.write(path, "#!/bin/sh\necho '"+text+"'\n")
		must.Succeed(w, os.Chmod(path, 0o755))
	}
}

func directoryFailures() []failure {
	old := files{"main.tf": "terraform {\n  required_version = \"< 1.0\"\n}\n"}
	backend := func(body string) map[string]string {
		return files{"main.tf": "terraform {\n  backend " + body + "\n}\n"}
	}
	return []failure{
		{name: "git_ref_missing", setUp: repository("?ref=v1.2.3")},
		{name: "git_directory_missing", setUp: repository("//modules/net?ref=main")},
		{name: "git_repository_missing", files: calling("git::file:///no/such/repository"), setUp: func(w *failing) { w.set("PATH=" + os.Getenv("PATH")) }},
		{name: "git_missing", files: calling("git::https://example.com/net.git")},
		{name: "module_directory_missing", files: calling("./net")},
		{name: "module_not_in_the_registry", files: calling("tf.example.com/acme/net/aws")},
		{name: "module_without_such_a_version", files: files{"main.tf": "module \"net\" {\n  source  = \"tf.example.com/acme/net/aws\"\n  version = \"~> 2.0\"\n}\n"},
			setUp: func(w *failing) {
				w.registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "aws", Version: "1.0.0", Location: "net.tgz"})
			}},
		{name: "module_archive_missing", files: calling("tf.example.com/acme/net/aws"), setUp: func(w *failing) {
			w.registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "aws", Version: "1.0.0", Location: w.registry.BaseURL() + "/net.tgz"})
		}},
		{name: "module_source_mistaken", files: calling("net")},
		{name: "syntax", files: files{"main.tf": "terraform {\n  required_providers {\n"}},
		{name: "required_version", files: old},
		{name: "required_version_of_a_program", files: old, env: "TFDEPS_TERRAFORM_VERSION=", setUp: terraformSays(`{"terraform_version": "1.5.7"}`)},
		{name: "required_version_of_a_named_program", files: old, env: "TFDEPS_TERRAFORM_VERSION=", setUp: func(w *failing) {
			terraformSays(`{"terraform_version": "1.5.7"}`)(w)
			w.set("PATH=", "TFDEPS_TERRAFORM_PATH="+filepath.Join(w.home, "terraform"))
		}},
		{name: "required_version_assumed", files: old, env: "TFDEPS_TERRAFORM_VERSION="},
		{name: "required_version_of_a_silent_program", files: old, env: "TFDEPS_TERRAFORM_VERSION=", setUp: terraformSays("hello")},
		{name: "terraform_too_old", files: old, env: "TFDEPS_TERRAFORM_VERSION=", setUp: terraformSays("Terraform v0.12.31")},
		{name: "terraform_too_old_by_a_variable", files: files{"main.tf": "terraform {\n  required_version = \"~> 1.0\"\n}\n"}, env: "TFDEPS_TERRAFORM_VERSION=0.13.7"},
		{name: "constraint_invalid", files: requiring(tiny + " about 1")},
		{name: "source_invalid", files: requiring("https://tf.example.com/acme/tiny")},
		{name: "lock_file_broken", files: with(".terraform.lock.hcl", "provider {\n")},
		{name: "source_is_a_page_of_the_registry", files: requiring("https://registry.terraform.io/providers/hashicorp/aws/latest")},
		{name: "lock_file_of_a_version_that_is_gone", files: with(".terraform.lock.hcl", locked("0.9.0", "zh:"+zeros64)),
			setUp: answering("", providertest.Fault{})},
		{name: "lock_file_with_a_merge_conflict", files: with(".terraform.lock.hcl", "<<<<<<< HEAD\n"+locked("1.0.0", "zh:"+zeros64))},
		{name: "lock_file_is_a_directory", files: with(".terraform.lock.hcl/x", "")},
		{name: "state_damaged", files: with("terraform.tfstate", "x")},
		{name: "state_of_another_version", files: with("terraform.tfstate", "{\"version\": 9}")},
		{name: "module_record_damaged", files: files{"main.tf": calling("./net")["main.tf"], ".terraform/modules/modules.json": "{"}},
		{name: "backend_record_damaged", files: with(".terraform/terraform.tfstate", "{")},
		{name: "cli_config_is_a_directory", env: "TF_CLI_CONFIG_FILE=/"},
		{name: "filesystem_mirror_missing", cli: "provider_installation {\n  filesystem_mirror {\n    path = \"/no/such/mirror\"\n  }\n}\n"},
		{name: "backend_config_unquoted", files: files{"main.tf": backend("\"local\" {}")["main.tf"], "prod.hcl": "path = here\n"}},
		{name: "backend_config_file_missing", files: backend("\"local\" {}")},
		{name: "backend_config_misspelt", files: backend("\"s3\" {}")},
		{name: "backend_unknown", files: backend("\"s4\" {}")},
		{name: "cli_config_unquoted_path", cli: "plugin_cache_dir = \"/tmp/cache\"\nprovider_installation {\n  filesystem_mirror {\n    path = /usr/share/providers\n  }\n}\n"},
		{name: "cli_config_unquoted_value", cli: "plugin_cache_dir = $HOME/.terraform.d/plugin-cache\n"},
		{name: "cli_config_unclosed_block", cli: "provider_installation {\n  direct {\n"},
		{name: "cli_config_with_a_token", cli: "credentials \"tf.example.com\" {\n  token = secret\n}\n"},
		{name: "cli_config_unknown_method", cli: "provider_installation {\n  mirror {\n    url = \"https://example.com/\"\n  }\n}\n"},
		{name: "cli_config_missing", env: "TF_CLI_CONFIG_FILE=/no/such/cli.tfrc"},
		{name: "credentials_helper_missing", files: requiring("localhost/acme/tiny"), cli: "credentials_helper \"vault\" {}\nhost \"localhost\" {\n  services = {}\n}\n"},
	}
}
