package blob

// isNotDirectory reports that a path leads through a file, for which Windows says that there is none.
func isNotDirectory(error) bool { return false }
