// Package during names the steps of an installation in which something can fail: the values of getproviders.Fault.Step.
package during

const (
	BuiltIn      = "built-in"     // a constraint on, or an unknown name of, a built-in provider
	Lock         = "lock"         // the locked version doesn't fit the constraints
	Query        = "query"        // asking for versions
	Select       = "select"       // no version fits
	Metadata     = "metadata"     // asking for the package
	Fetch        = "fetch"        // downloading the archive, or reading the directory
	Authenticate = "authenticate" // checksum or signature, or the documents that hold them
	Verify       = "verify"       // the lock file's hashes
	Unpack       = "unpack"       // what the package contains
	Policy       = "policy"       // the caller's own policy refuses the package
	Publish      = "publish"      // writing to the target directory
	Cancel       = "cancel"       // the context ended
)
