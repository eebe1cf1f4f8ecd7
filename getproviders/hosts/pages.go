package hosts

import (
	"errors"
	"fmt"
	"strconv"
)

// DefaultPages is how many pages a list may have if nothing else is set. A page of S3 or Google
// Cloud Storage has 1000 names.
const DefaultPages = 10_000

// ErrPages says that a list in pages doesn't end, or has more pages than are read.
var ErrPages = errors.New("the list doesn't end")

// Pages bounds a list that a service sends in pages, each of which names the next one: a service
// that lies, or has a bug, would be asked forever. It is for one list and one goroutine.
type Pages struct {
	URL string // of the list, for errors; no secret may be in it
	Max int    // how many pages are read; 0: DefaultPages

	seen int
	last string
}

// Next is told what names the next page, before that is asked for. The error is ErrPages if it is
// the page that was asked for last, or if Max pages were read.
func (p *Pages) Next(token string) error {
	most := p.Max
	if most <= 0 {
		most = DefaultPages
	}
	switch p.seen++; {
	case p.seen > 1 && token == p.last:
		return fmt.Errorf("%w: page %d of %s names itself as the next page", ErrPages, p.seen, p.URL)
	case p.seen >= most:
		return fmt.Errorf("%w: %s has more than %d pages. If it is that long, raise TFDEPS_LIST_PAGES", ErrPages, p.URL, most)
	}
	p.last = token
	return nil
}

// MaxPages reads the variable TFDEPS_LIST_PAGES, for Pages.Max. What is no positive number means the default.
func MaxPages(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return max(n, 0)
}
