package disk

// Place is what can be told of where a store is, without writing anything there.
type Place struct {
	// Dir is the store's directory or, where that doesn't exist yet, the first one above it that
	// does. The rest is about it.
	Dir string
	// Exists says that the store's directory is there.
	Exists bool

	FileSystem string // its kind, as the system names it: "ext4", "nfs4"; "": not known
	// KeepsTimes says that the file system keeps the times by which receipts notice changes. Where it
	// doesn't, every use of a package hashes it.
	KeepsTimes bool
	Free       int64 // bytes that this user can write; less than 0: not known

	// Exposed is the outermost directory, Dir itself and those above it, in which other users can
	// exchange what is there, so that no receipt counts; "": there is none.
	Exposed string
}
