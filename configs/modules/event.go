package modules

// Event is something that happened while a tree was walked: one of the types
// of this file.
type Event interface{ event() }

// Downloading comes when a package is going to be fetched for a module.
type Downloading struct {
	Key     string
	Package string // the address, without secrets
	Version string // of a registry's module; "" for others
}

// Recorded comes when a module is in its place that was recorded otherwise, or
// not at all.
type Recorded struct{ Record }

func (Downloading) event() {}
func (Recorded) event()    {}
