package view

import (
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// worthShowing is the size in bytes from which on people are shown a download.
const worthShowing = 1 << 20

// download is one that runs, or has run until a moment ago.
type download struct {
	provider getproviders.Provider
	version  getproviders.Version
	short    string // the provider, for people

	begun, last time.Time // of what has come
	had         int64     // bytes that an earlier run had left
	done, total int64     // bytes; total is -1 if unknown
	came        int64     // bytes over the network, those included that had to come again
}

// name is what is downloaded, for people.
func (d *download) name() string { return d.short + " v" + d.version.String() }

// large reports whether people want to see it.
func (d *download) large() bool { return max(d.done, d.total) >= worthShowing }

// advance records how far it has come. A server that has another archive than
// before starts all over.
func (d *download) advance(e providercache.FetchProgress, now time.Time) {
	if e.Done < d.done {
		d.done, d.had = 0, 0
	}
	d.came += e.Done - d.done
	d.done, d.total, d.last = e.Done, e.Total, now
}

// downloads follows those that run.
type downloads struct {
	product getproviders.Product
	now     func() time.Time
	display display
	running map[getproviders.Provider]*download
}

// observe takes an event in. Of a package that is in its place it returns how
// many bytes of it came over the network.
func (d *downloads) observe(e providercache.Event) (came int64) {
	switch e := e.(type) {
	case providercache.FetchProgress:
		d.progress(e)
	case providercache.FetchDone:
		if one := d.end(e.Provider); one != nil {
			d.display.finish(one)
			return one.came
		}
	case providercache.Failed:
		if one := d.end(e.Provider); one != nil {
			d.display.drop(one)
		}
	}
	return 0
}

func (d *downloads) progress(e providercache.FetchProgress) {
	now := d.now()
	one := d.running[e.Provider]
	if one == nil {
		one = &download{
			provider: e.Provider, version: e.Version, short: printable(d.product.Short(e.Provider)),
			begun: now, had: e.Done, done: e.Done,
		}
		d.running[e.Provider] = one
	}
	one.advance(e, now)
	d.display.update(one)
}

func (d *downloads) end(p getproviders.Provider) *download {
	one := d.running[p]
	delete(d.running, p)
	return one
}

// close gives up what still runs, after an interrupt for instance.
func (d *downloads) close() {
	clear(d.running)
	d.display.close()
}
