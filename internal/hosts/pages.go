package hosts

import (
	"errors"
	"fmt"
	"iter"
)

// maxPages is how many pages a list may have. A page of S3 or Google Cloud Storage has 1000 names.
const maxPages = 10_000

// ErrPages says that a list in pages doesn't end, or has more pages than are read.
var ErrPages = errors.New("the list doesn't end")

// List lists what a service sends in pages, each of which names the next one. A service that lies, or has a bug, would be asked forever:
// the error is ErrPages if a page names itself as the next one, or if 10,000 pages were read. page gets the page of a name, "" being that of
// the first one; next is "" with the last one. url is that of the list, for errors; no secret may be in it. The list ends with the first error.
func List[T any](url string, page func(name string) (items []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		name := ""
		for seen := 1; ; seen++ {
			items, next, err := page(name)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			switch {
			case err != nil:
			case next == "":
				return
			case seen > 1 && next == name:
				err = fmt.Errorf("%w: page %d of %s names itself as the next page", ErrPages, seen, url)
			case seen >= maxPages:
				err = fmt.Errorf("%w: %s has more than %d pages", ErrPages, url, maxPages)
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			name = next
		}
	}
}
