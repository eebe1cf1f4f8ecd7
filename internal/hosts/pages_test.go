package hosts

import (
	"strconv"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestPages_End(t *testing.T) {
	for name, test := range map[string]struct {
		pages int
		next  func(page int) string // but of the last one
		says  string                // "": every page is read
	}{
		"as many as there may be":     {pages: maxPages, next: strconv.Itoa},
		"one more":                    {pages: maxPages + 1, next: strconv.Itoa, says: "https://h/list has more than 10000 pages"},
		"a page leads to itself":      {pages: 3, next: func(int) string { return "x" }, says: "page 2 of https://h/list names itself"},
		"two pages lead to the other": {pages: maxPages + 1, next: func(page int) string { return strconv.Itoa(page % 2) }, says: "more than 10000 pages"},
	} {
		asked, read := 0, 0
		list := List("https://h/list", func(string) (items []int, next string, err error) {
			if asked++; asked < test.pages {
				next = test.next(asked)
			}
			return []int{asked}, next, nil
		})
		for item, err := range list {
			if err != nil {
				must.Fail(t, err, ErrPages, name)
				must.Contain(t, err, test.says, name)
				read = -1
				break
			}
			read++
			must.Equal(t, item, read, name)
		}
		must.Equal(t, read < 0, test.says != "", name)
	}
}
