package hosts

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

func TestPages_End(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		count int
		token func(page int) string
		says  string // "": every page may be read
	}{
		"as many as there may be":     {count: maxPages - 1, token: strconv.Itoa},
		"one more":                    {count: maxPages, token: strconv.Itoa, says: "https://h/list has more than 10000 pages"},
		"a page leads to itself":      {count: 2, token: func(int) string { return "x" }, says: "page 2 of https://h/list names itself"},
		"two pages lead to the other": {count: maxPages, token: func(page int) string { return strconv.Itoa(page % 2) }, says: "more than 10000 pages"},
	} {
		pages := Pages{URL: "https://h/list"}
		for page := 1; page <= test.count; page++ {
			switch err := pages.Next(test.token(page)); {
			case page < test.count || test.says == "":
				if err != nil {
					t.Fatalf("%s: page %d: %v", name, page, err)
				}
			case !errors.Is(err, ErrPages) || !strings.Contains(err.Error(), test.says):
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
