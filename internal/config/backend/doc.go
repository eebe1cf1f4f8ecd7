// Package backend reads and writes the record from which plan and apply know where
// state is, .terraform/terraform.tfstate:
//
//	record, err := backend.Read(nil, filepath.Join(".terraform", backend.FileName), product)
//	workspace := backend.ReadWorkspace(nil, ".terraform")
//	if path, ok := record.StateFile(workspace); ok {
//		... // the state is in a local file, which need not exist
//	}
//
// [Decode] turns a backend or cloud block, and what -backend-config adds to
// it, into a [Config]; [Record.Compare] says how it differs from the record of an
// earlier run; [NewRecord] and [Record.Save] write the next one.
//
// # What a record holds
//
//  1. The type of the backend, the values of all its arguments, null where none
//     was given, and a number that stands for the block in the configuration
//     alone, without what the command line added.
//  2. That number is the hash that go-cty gives to the tuple of type and decoded
//     block, with null for whatever is missing or can't be decoded.
//  3. A plan accepts a record whose number is that of the block, without a look
//     at the values; else one whose values are those of the block. So values
//     that came by -backend-config need the true number.
//  4. The number depends on which arguments a type has: it changes when a
//     version of the product adds one. The table of types says since when there
//     is what is younger than Terraform 1.11.
//
// OpenTofu's records hold the same but for the version, in other white space, and
// its types have a table of differences.
//
// # What it doesn't do
//
// Nothing here talks to a backend, moves state, or judges whether values make
// sense together: the backends do, when they are asked for state.
//
// Where tfdeps differs from Terraform on purpose: a record is for its owner only,
// as secrets of -backend-config stand in it, and replaces the old one in one
// step; a required argument that is missing is reported for every type in the same
// words, where Terraform leaves some to fail later or crashes; values given
// by -backend-config never stand in a message, nor do lines of its files.
package backend
