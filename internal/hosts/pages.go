package hosts

import (
	"errors"
	"fmt"
)

// maxPages is how many pages a list may have. A page of S3 or Google Cloud Storage has 1000 names.
const maxPages = 10_000

// ErrPages says that a list in pages doesn't end, or has more pages than are read.
var ErrPages = errors.New("the list doesn't end")

// Pages bounds a list that a service sends in pages, each of which names the next one: a service
// that lies, or has a bug, would be asked forever. It is for one list and one goroutine.
type Pages struct {
	URL string // of the list, for errors; no secret may be in it

	seen int
	last string
}

// Next is told what names the next page, before that is asked for. The error is ErrPages if it is
// the page that was asked for last, or if 10,000 pages were read.
func (p *Pages) Next(token string) error {
	switch p.seen++; {
	case p.seen > 1 && token == p.last:
		return fmt.Errorf("%w: page %d of %s names itself as the next page", ErrPages, p.seen, p.URL)
	case p.seen >= maxPages:
		return fmt.Errorf("%w: %s has more than %d pages", ErrPages, p.URL, maxPages)
	}
	p.last = token
	return nil
}
