// Package hashing has the schemes of package hashes, as lock files name them, and their order there.
package hashing

import "slices"

const (
	H1 = "h1" // Go's dirhash over the unpacked files
	ZH = "zh" // hex SHA-256 of the zip archive
)

// Sort returns a copy of all, sorted bytewise and without duplicates: the order of the lock file, where h1 comes before zh.
func Sort[Hash ~string](all []Hash) []Hash {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
