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
		max, count int
		token      func(page int) string
		says       string // "": every page may be read
	}{
		"as many as there may be":     {max: 5, count: 4, token: strconv.Itoa},
		"one more":                    {max: 5, count: 5, token: strconv.Itoa, says: "https://h/list has more than 5 pages. If it is that long, raise TFDEPS_LIST_PAGES"},
		"no limit is set":             {count: DefaultPages - 1, token: strconv.Itoa},
		"one more than usual":         {count: DefaultPages, token: strconv.Itoa, says: "more than 10000 pages"},
		"a page leads to itself":      {count: 2, token: func(int) string { return "x" }, says: "page 2 of https://h/list names itself"},
		"two pages lead to the other": {max: 100, count: 100, token: func(page int) string { return strconv.Itoa(page % 2) }, says: "more than 100 pages"},
	} {
		pages := Pages{URL: "https://h/list", Max: test.max}
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

func TestMaxPages_IsAPositiveNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "x": 0, "-1": 0, "0": 0, "7": 7, "99999999999999999999": 0} {
		if got := MaxPages(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
