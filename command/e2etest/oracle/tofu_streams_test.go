package oracle

import (
	"maps"
	"testing"
)

// TestStreams_SameAsTofu is [TestStreams_SameAsTerraform] for tfdeps in the place of tofu.
func TestStreams_SameAsTofu(t *testing.T) {
	t.Parallel()
	compareStreams(t, withTofu(t), tofuStreamDifferences(), ofTerraformOnly...)
}

// ofTerraformOnly are cases whose constraints are for versions of Terraform, or whose lock entry is that of Terraform's registry.
var ofTerraformOnly = []string{"required_version", "required_version_of_a_module", "lock_hash_mismatch"}

// tofuStreamDifferences are those of Terraform, and where OpenTofu has words of its own for arguments.
func tofuStreamDifferences() map[string]streamDifference {
	all := maps.Clone(streamDifferences)
	for _, name := range ofTerraformOnly {
		delete(all, name)
	}
	help := streamDifference{Out: true, Reason: "difference 44: help is not printed after an error"}
	for _, name := range []string{"flag_unknown", "flag_unknown_get", "flag_unknown_lock", "flag_value", "timeout_value"} {
		all[name] = help
	}
	words := streamDifference{Out: true, Err: true, Reason: "difference 44: mistakes are summed up in Terraform's words"}
	for _, name := range []string{"argument_too_many", "mirror_no_dir", "mirror_no_directory", "readonly_upgrade", "reconfigure_migrate",
		"import_without_id", "removed_of_index", "lock_twice", "lock_wrong_hash", "lock_wrong_version", "modules_json_broken_get"} {
		all[name] = words
	}
	all["backend_reference"] = ownWords
	all["backend_values_missing"] = streamDifference{Err: true, Reason: "difference 33: a missing argument is reported in the same words for every backend"}
	return all
}
