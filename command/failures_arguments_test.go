package command

import "path/filepath"

// argumentFailures are about arguments and variables, and about values that they don't have.
func argumentFailures() map[string]failure {
	return map[string]failure{
		"product_variable_invalid":         {env: "TFDEPS_PRODUCT=opentofu"},
		"progress_variable_invalid":        {env: "TFDEPS_PROGRESS=bars"},
		"workspace_invalid":                {env: "TF_WORKSPACE=a b"},
		"cache_add_a_missing_version":      {setUp: versions("1.0.0")},
		"cache_add_for_a_missing_platform": {setUp: versions("1.0.0")},
		"cache_pull_from_http":             {setUp: installed},
		"linking_invalid":                  {env: "TFDEPS_LINK=sym"},
		"version_of_the_product_invalid":   {env: "TFDEPS_TERRAFORM_VERSION=latest"},
		"cache_dir_unusable": {files: and(requiring(tiny+" ~> 2.0"), "cache", "a file"), env: "TFDEPS_CACHE_DIR=cache",
			setUp: versions("1.0.0")},
		"cli_args_unknown_option":            {env: "TF_CLI_ARGS_init=-parallelism=5"},
		"cli_args_unknown_option_of_another": {env: "TF_CLI_ARGS=-input=false"},
		"cli_args_unbalanced":                {env: "TF_CLI_ARGS_init=-backend-config='a"},
		"variable_invalid":                   {env: "TFDEPS_OFFLINE=maybe"},
		"variable_unknown":                   {env: "TFDEPS_OFLINE=1"},
		"plugin_cache_unwritable": {files: and(requiring(tiny+" ~> 2.0"), "cache", "a file"), setUp: func(w *failing) {
			w.set("TF_PLUGIN_CACHE_DIR=" + filepath.Join(w.dir, "cache"))
			versions("1.0.0")(w)
		}},
	}
}
