package command

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// argumentFailures are about arguments and variables, and about values that they don't have.
func argumentFailures() []failure {
	return []failure{
		{name: "product_variable_invalid", env: "TFDEPS_PRODUCT=opentofu"},
		{name: "progress_variable_invalid", env: "TFDEPS_PROGRESS=bars"},
		{name: "workspace_invalid", env: "TF_WORKSPACE=a b"},
		{name: "cache_add_a_missing_version", setUp: versions("1.0.0")},
		{name: "cache_add_for_a_missing_platform", setUp: versions("1.0.0")},
		{name: "cache_pull_from_http", setUp: installed},
		{name: "linking_invalid", env: "TFDEPS_LINK=sym"},
		{name: "version_of_the_product_invalid", env: "TFDEPS_TERRAFORM_VERSION=latest"},
		{name: "cache_dir_unusable", files: files{"main.tf": requiring(tiny + " ~> 2.0")["main.tf"], "cache": "a file"}, env: "TFDEPS_CACHE_DIR=cache",
			setUp: answering("", providertest.Fault{})},
		{name: "cli_args_unknown_option", env: "TF_CLI_ARGS_init=-parallelism=5"},
		{name: "cli_args_unknown_option_of_another", env: "TF_CLI_ARGS=-input=false"},
		{name: "cli_args_unbalanced", env: "TF_CLI_ARGS_init=-backend-config='a"},
		{name: "variable_invalid", env: "TFDEPS_OFFLINE=maybe"},
		{name: "variable_unknown", env: "TFDEPS_OFLINE=1"},
		{name: "plugin_cache_unwritable", files: files{"main.tf": requiring(tiny + " ~> 2.0")["main.tf"], "cache": "a file"}, setUp: func(w *failing) {
			w.set("TF_PLUGIN_CACHE_DIR=" + filepath.Join(w.dir, "cache"))
			versions("1.0.0")(w)
		}},
	}
}
