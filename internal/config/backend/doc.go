// Package backend reads and writes the record .terraform/terraform.tfstate, which tells plan and
// apply where the state is:
//
//	record, err := backend.Read(nil, filepath.Join(".terraform", backend.FileName), product)
//	workspace := backend.ReadWorkspace(nil, ".terraform")
//	if path, ok := record.StateFile(workspace); ok {
//		... // the state is in a local file, which need not exist
//	}
//
// [Decode] converts a backend or cloud block, with -backend-config, to a [Config]; [Record.Compare]
// compares it with the record of an earlier run; [NewRecord] and [Record.Save] write the next
// record.
//
// # The content of a record
//
//  1. The type of the backend, the values of all its arguments, null for missing
//     ones, and a hash of the block in the configuration alone, without
//     -backend-config.
//  2. That number is go-cty's hash of the tuple of type and decoded block, with
//     null for arguments that are missing or can't be decoded.
//  3. Plan accepts a record whose hash is the block's, without comparing values;
//     or else one whose values are the block's. So a record with values from
//     -backend-config needs the exact hash.
//  4. The hash depends on the type's arguments: it changes when a version of the
//     product adds one. The table of types has the versions of arguments that are
//     younger than Terraform 1.11.
//
// OpenTofu's records have the same content without the version, and other white space. Its types
// have a table of differences.
//
// # What it doesn't do
//
// The package doesn't connect to a backend, move state, or check whether values fit together: the
// backends do that when state is read.
//
// Intended differences from Terraform: only the owner can read a record, because it has secrets of
// -backend-config, and it is replaced by a rename; a missing required argument is reported in the
// same words for every type, where Terraform fails later or crashes for some; values of
// -backend-config, and lines of its files, are never shown in a message.
package backend
