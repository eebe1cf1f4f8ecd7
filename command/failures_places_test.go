package command

import (
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/must"
)

// placesFailures are about files and directories that options, variables and operands name.
func placesFailures() []failure {
	one := requiring(tiny)
	with := func(more ...string) map[string]string {
		files := map[string]string{"main.tf": one["main.tf"]}
		for i := 0; i+1 < len(more); i += 2 {
			files[more[i]] = more[i+1]
		}
		return files
	}
	link := func(name, to string) func(*failing) {
		return func(w *failing) {
			versions("1.0.0")(w)
			must.Succeed(w, os.Symlink(to, filepath.Join(w.dir, name)))
		}
	}
	return []failure{
		{name: "working_directory_removed", files: with(), setUp: func(w *failing) {
			gone := filepath.Join(w.dir, "gone")
			must.Succeed(w, os.Mkdir(gone, 0o755))
			w.Chdir(gone)
			must.Succeed(w, os.Remove(gone))
		}},
		{name: "data_directory_is_a_file", files: with("data", "a file"), env: []string{"TF_DATA_DIR=data"}},
		{name: "data_directory_is_a_broken_link", files: with(), setUp: link(".terraform", "/no/such/directory")},
		{name: "configuration_is_a_broken_link", files: with(), setUp: link("more.tf", "none.tf")},
		{name: "configuration_is_not_utf8", files: map[string]string{"main.tf": "locals {\n  a = \"caf\xe9\"\n}\n"}},
		{name: "report_in_no_directory", files: with(), args: "init -report=none/init.html"},
		{name: "report_is_a_directory", files: with("pages/x", ""), args: "init -report=pages"},
		{name: "json_into_a_directory", files: with("out/x", ""), args: "init -json-into=out"},
		{name: "state_is_a_directory", files: with("states/x", ""), args: "init -state=states"},
		{name: "plugin_dir_is_a_file", files: with("plugins", "a file"), args: "init -plugin-dir=plugins"},
		{name: "mirror_option_is_a_file", files: with("mirror", "a file"), args: "init -mirror=mirror"},
		{name: "mirror_option_without_variables", files: with(), args: "init -mirror=oci://registry.example.com/tfdeps"},
		{name: "from_module_missing", args: "init -from-module=./none"},
		{name: "from_module_mistaken", args: "init -from-module=net"},
		{name: "from_module_refused", args: "init -from-module=git::https://127.0.0.1:1/net.git", setUp: func(w *failing) { w.set("PATH=" + os.Getenv("PATH")) }},
		{name: "policy_option_missing", files: with(), args: "init -policy=none.hcl"},
		{name: "policy_variable_missing", files: with(), env: []string{"TFDEPS_POLICY=none.hcl"}},
		{name: "policy_misspelt", files: with("tfdeps.hcl", "minimum_trustt = \"partner\"\n")},
		{name: "policy_with_an_unknown_value", files: with("tfdeps.hcl", "minimum_trust = \"high\"\n")},
		{name: "policy_time_without_a_unit", files: with(), args: "init -policy=minimum_age=3"},
		{name: "trusted_key_missing", files: with(), env: []string{"TFDEPS_TRUSTED_KEYS=none.asc"}},
		{name: "trusted_key_is_none", files: with("notes.txt", "no key"), env: []string{"TFDEPS_TRUSTED_KEYS=notes.txt"}},
		{name: "program_missing", files: with(), args: "init -offline", env: []string{"TFDEPS_TERRAFORM_VERSION=", "TFDEPS_TERRAFORM_PATH=/no/such/terraform"}},
		{name: "passed_to_a_missing_program", args: "-passthrough plan", env: []string{"TFDEPS_TERRAFORM_PATH=/no/such/terraform"}},
		{name: "mirror_is_a_file", files: with("mirror", "a file"), args: "providers mirror mirror"},
		{name: "mirror_below_a_file", files: with("mirror", "a file"), args: "providers mirror mirror/packages"},
		{name: "mirror_twice", files: with(), args: "providers mirror one two"},
		{name: "mirror_template_without_variables", files: with(), args: "providers mirror oci://registry.example.com/tfdeps"},
		{name: "lock_from_a_missing_mirror", files: with(), args: "providers lock -fs-mirror=none"},
		{name: "verify_in_a_missing_directory", files: with(), args: "providers verify -dir=none"},
		{name: "hash_of_what_is_no_archive", files: with("tiny.zip", "a file"), args: "hash tiny.zip"},
		{name: "vendor_without_configuration", args: "vendor"},
		{name: "vendor_archive_missing", args: "vendor -unpack=none.tar"},
		{name: "vendor_archive_is_none", files: with("deps.tar", "a file"), args: "vendor -unpack=deps.tar"},
		{name: "vendor_archive_in_no_directory", files: with(), args: "vendor -o none/deps.tar", setUp: versions("1.0.0")},
		{name: "cache_add_from_no_directory", args: "cache add -locked none"},
		{name: "cache_add_without_lock_files", files: with(), args: "cache add -locked ."},
		{name: "cache_key_without_lock_files", files: with(), args: "cache key"},
		{name: "cache_push_to_a_file", files: with("shared", "a file"), args: "cache push shared", setUp: installed},
		{name: "cache_without_a_home", args: "cache dir", setUp: func(w *failing) { w.noCacheDir = true }},
	}
}
