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
