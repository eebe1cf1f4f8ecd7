package transfer

import (
	"github.com/tfdeps/tfdeps/getproviders"
)

// State is what became of a package that was to be pushed or pulled.
type State string

const (
	Sent        State = "sent"
	Pulled      State = "pulled"
	Present     State = "present"      // it was there already: in the remote, or in the cache
	NotCached   State = "not_cached"   // nothing to push: the cache has no package that the lock file allows
	Absent      State = "absent"       // nothing to pull: the remote has no package that the lock file allows
	NotRecorded State = "not_recorded" // the lock file doesn't have its h1
	Failed      State = "failed"
)

// Result is what became of one package.
type Result struct {
	Selection getproviders.Selection
	Platform  getproviders.Platform
	State     State
	H1        getproviders.Hash // of a package that was to be pushed; "": it isn't known, or there is none
	URL       string            // of the archive; "": there is none, or it isn't known
	Bytes     int64             // of the archive, if it was sent or pulled
	Err       error             // a *getproviders.Fault, if it failed
}
