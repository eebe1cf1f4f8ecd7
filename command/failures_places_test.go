package command

import (
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/must"
)

// placesFailures are about files and directories that options, variables and operands name.
func placesFailures() map[string]failure {
	none := map[string]string{}
	link := func(name, to string) func(*failing) {
		return func(w *failing) {
			versions("1.0.0")(w)
			must.Succeed(w, os.Symlink(to, filepath.Join(w.dir, name)))
		}
	}
	return map[string]failure{
		"working_directory_removed": {setUp: func(w *failing) {
			gone := filepath.Join(w.dir, "gone")
			must.Succeed(w, os.Mkdir(gone, 0o755))
			w.Chdir(gone)
			must.Succeed(w, os.Remove(gone))
		}},
		"data_directory_is_a_file":        {files: with("data", "a file"), env: "TF_DATA_DIR=data"},
		"data_directory_is_a_broken_link": {setUp: link(".terraform", "/no/such/directory")},
		"configuration_is_a_broken_link":  {setUp: link("more.tf", "none.tf")},
		"configuration_is_not_utf8":       {files: files{"main.tf": "locals {\n  a = \"caf\xe9\"\n}\n"}},
		"report_is_a_directory":           {files: with("pages/x", "")},
		"json_into_a_directory":           {files: with("out/x", "")},
		"state_is_a_directory":            {files: with("states/x", "")},
		"plugin_dir_is_a_file":            {files: with("plugins", "a file")},
		"mirror_option_is_a_file":         {files: with("mirror", "a file")},
		"from_module_missing":             {files: none},
		"from_module_mistaken":            {files: none},
		"vendor_without_configuration":    {files: none},
		"from_module_refused":             {files: none, setUp: func(w *failing) { w.set("PATH=" + os.Getenv("PATH")) }},
		"policy_variable_missing":         {env: "TFDEPS_POLICY=none.hcl"},
		"policy_misspelt":                 {files: with("tfdeps.hcl", "minimum_trustt = \"partner\"\n")},
		"policy_with_an_unknown_value":    {files: with("tfdeps.hcl", "minimum_trust = \"high\"\n")},
		"trusted_key_missing":             {env: "TFDEPS_TRUSTED_KEYS=none.asc"},
		"trusted_key_is_none":             {files: with("notes.txt", "no key"), env: "TFDEPS_TRUSTED_KEYS=notes.txt"},
		"program_missing":                 {env: "TFDEPS_TERRAFORM_VERSION=\nTFDEPS_TERRAFORM_PATH=/no/such/terraform"},
		"passed_to_a_missing_program":     {env: "TFDEPS_TERRAFORM_PATH=/no/such/terraform"},
		"mirror_is_a_file":                {files: with("mirror", "a file")},
		"mirror_below_a_file":             {files: with("mirror", "a file")},
		"hash_of_what_is_no_archive":      {files: with("tiny.zip", "a file")},
		"vendor_archive_is_none":          {files: with("deps.tar", "a file")},
		"vendor_archive_in_no_directory":  {setUp: versions("1.0.0")},
		"cache_push_to_a_file":            {files: with("shared", "a file"), setUp: installed},
		"cache_without_a_home":            {setUp: func(w *failing) { w.noCacheDir = true }},
	}
}
