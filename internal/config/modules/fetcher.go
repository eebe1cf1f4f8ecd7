package modules

import "context"

// Fetcher gets packages from elsewhere. Package fetch has one that knows all
// that Terraform knows; programs that embed this package may bring their own.
type Fetcher interface {
	// Fetch makes the directory dst, which isn't there yet and whose parent is,
	// with the content of a package. It is called by many goroutines at once;
	// whatever the number of calls for one package, it is asked for once.
	Fetch(ctx context.Context, req FetchRequest, dst string) (Fetched, error)
}

// FetchRequest says what is to be fetched.
type FetchRequest struct {
	Package string // the address without a subdirectory: [Remote.Package]
	// Pin names what never changes, like "registry.example.com/acme/net/cloud 1.2.0":
	// a package that was fetched earlier for the same pin and address is as good
	// as one that is fetched now. "" says that it may have changed.
	Pin string
	// Commit is what a lock file says that the package was: the full ID of a
	// commit of a git repository. It counts only where the repository may not be
	// asked what the address means now. "": not known.
	Commit string
	// Own says that the user's own configuration has the address: only then does a profile in it count, and only then are the user's
	// credentials for s3 sent to any server that it names.
	Own    bool
	Served Served
	// Beside are the requests that are made at the same time, this one among them, so
	// that what several of them need can be asked for together; nil: not known. It
	// makes no difference to what is fetched.
	Beside *Requests
}

// Requests are made at the same time.
type Requests struct{ All []FetchRequest }

// Fetched is what is known of a package that was fetched.
type Fetched struct {
	Commit string // of a git repository, in full; "" for others
}
