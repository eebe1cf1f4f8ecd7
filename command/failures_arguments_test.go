package command

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/providertest"
)

// argumentFailures are about arguments and variables.
func argumentFailures() []failure {
	one := requiring(tiny)
	return []failure{
		{name: "command_of_terraform", args: "plan -out=tfplan"},
		{name: "command_misspelt", args: "providers lck"},
		{name: "command_unknown", args: "frobnicate"},
		{name: "option_misspelt", files: one, args: "init -upgrad"},
		{name: "option_unknown", args: "cache gc -frobnicate"},
		{name: "option_before_the_command", args: "-upgrade init"},
		{name: "option_conflict", files: one, args: "init -upgrade -lockfile=readonly"},
		{name: "option_with_a_long_dash", files: one, args: "init —upgrade"},
		{name: "option_with_a_space", files: one, args: "init -upgrade false"},
		{name: "global_option_behind_the_command", files: one, args: "init -chdir=here"},
		{name: "verify_without_a_lock_file", files: one, args: "providers verify"},
		{name: "hash_of_nothing", args: "hash none.zip"},
		{name: "linking_invalid", files: one, env: []string{"TFDEPS_LINK=sym"}},
		{name: "version_of_the_product_invalid", files: one, env: []string{"TFDEPS_TERRAFORM_VERSION=latest"}},
		{name: "cache_dir_unusable", files: map[string]string{"main.tf": requiring(tiny + " ~> 2.0")["main.tf"], "cache": "a file"}, env: []string{"TFDEPS_CACHE_DIR=cache"},
			setUp: answering("", providertest.Fault{})},
		{name: "argument_too_many", files: one, args: "init here"},
		{name: "cli_args_unknown_option", files: one, env: []string{"TF_CLI_ARGS_init=-parallelism=5"}},
		{name: "cli_args_unknown_option_of_another", files: one, args: "cache list", env: []string{"TF_CLI_ARGS=-input=false"}},
		{name: "cli_args_unbalanced", files: one, env: []string{"TF_CLI_ARGS_init=-backend-config='a"}},
		{name: "variable_invalid", files: one, env: []string{"TFDEPS_OFFLINE=maybe"}},
		{name: "variable_unknown", files: one, env: []string{"TFDEPS_OFLINE=1"}},
		{name: "platform_invalid", files: one, args: "providers lock -platform=linux"},
		{name: "size_without_a_unit", args: "cache gc -max-size=20"},
		{name: "age_without_a_unit", args: "cache gc -older-than=30"},
		{name: "cache_clean_matches_nothing", args: "cache clean hashicorp/aws"},
		{name: "chdir_missing", args: "-chdir=nowhere init"},
		{name: "mirror_without_directory", files: one, args: "providers mirror"},
		{name: "address_invalid", args: "cache add aws!"},
		{name: "plugin_cache_unwritable", files: map[string]string{"main.tf": requiring(tiny + " ~> 2.0")["main.tf"], "cache": "a file"}, setUp: func(w *failing) {
			w.set("TF_PLUGIN_CACHE_DIR=" + filepath.Join(w.dir, "cache"))
			versions("1.0.0")(w)
		}},
	}
}
