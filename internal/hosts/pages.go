package hosts

import (
	"errors"
	"fmt"
	"iter"
)

// maxPages is the largest number of pages of a list. A page of S3 or Google Cloud Storage has 1000
// names.
const maxPages = 10_000

// ErrPages says that a list in pages doesn't end, or has too many pages.
var ErrPages = errors.New("the list doesn't end")

// List lists the items of a service that sends pages, each with the name of the next one. A malicious or faulty service could send pages
// forever: the error is ErrPages if a page names itself as the next one, or after 10,000 pages. page requests the page with a name, "" for the
// first one; next is "" for the last one. url is the list's URL for errors, without secrets. The list ends at the first error.
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
