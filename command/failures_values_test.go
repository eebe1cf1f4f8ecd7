package command

// valuesFailures are about values of options and operands, and about commands that don't have them.
func valuesFailures() []failure {
	one := requiring(tiny)
	return []failure{
		{name: "command_of_terraform_misspelt", args: "plna -out=tfplan"},
		{name: "command_of_terraform_of_two_words", args: "providers schema -json"},
		{name: "command_of_terraform_of_two_words_misspelt", args: "providers schma -json"},
		{name: "help_for_a_command_of_terraform", args: "help aply"},
		{name: "help_with_a_value", args: "-help=init"},
		{name: "cache_without_a_command", args: "cache frobnicate"},
		{name: "operand_of_a_command_without_any", files: one, args: "doctor everything"},
		{name: "linking_option_invalid", files: one, args: "init -link=sym"},
		{name: "lock_file_mode_invalid", files: one, args: "init -lockfile=no"},
		{name: "program_option_invalid", files: one, args: "init -with=opentofu"},
		{name: "product_variable_invalid", files: one, env: []string{"TFDEPS_PRODUCT=opentofu"}},
		{name: "progress_option_invalid", files: one, args: "init -progress=bars"},
		{name: "progress_variable_invalid", files: one, env: []string{"TFDEPS_PROGRESS=bars"}},
		{name: "hashes_option_invalid", files: one, args: "init -hashes=all"},
		{name: "switch_option_invalid", files: one, args: "init -input=maybe"},
		{name: "workspace_invalid", files: one, env: []string{"TF_WORKSPACE=a b"}},
		{name: "plan_and_check", files: one, args: "init -plan -check"},
		{name: "upgrade_and_offline", files: one, args: "init -upgrade -offline"},
		{name: "upgrade_and_frozen", files: one, args: "init -upgrade -frozen"},
		{name: "platform_option_invalid", files: one, args: "init -platform=linux"},
		{name: "lock_of_what_is_not_required", files: one, args: "providers lock acme/none"},
		{name: "lock_from_two_mirrors", files: one, args: "providers lock -fs-mirror=a -net-mirror=https://example.com/"},
		{name: "mirror_versions_invalid", files: one, args: "providers mirror -versions=newest mirror"},
		{name: "format_invalid", files: one, args: "providers -format=spdx"},
		{name: "policy_without_a_format", files: one, args: "providers -policy=minimum_trust=partner"},
		{name: "age_below_zero", args: "cache gc -older-than=-3d"},
		{name: "directory_without_keep_locked", args: "cache gc envs"},
		{name: "cache_add_nothing", args: "cache add"},
		{name: "cache_add_version_invalid", args: "cache add acme/tiny@latest"},
		{name: "cache_add_a_missing_version", args: "cache add tf.example.com/acme/tiny@9.9.9", setUp: versions("1.0.0")},
		{name: "cache_add_a_missing_provider", args: "cache add tf.example.com/acme/none"},
		{name: "cache_add_for_a_missing_platform", args: "cache add -platform=plan9_arm tf.example.com/acme/tiny", setUp: versions("1.0.0")},
		{name: "cache_pull_from_http", files: one, args: "cache pull http://example.com/tfdeps", setUp: installed},
		{name: "completion_for_an_unknown_shell", args: "completion tcsh"},
	}
}
