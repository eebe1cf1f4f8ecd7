package blob

// isNotDirectory is always false: if a parent in a path is a file,
// Windows says that the file doesn't exist.
func isNotDirectory(error) bool { return false }
