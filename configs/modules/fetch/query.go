package fetch

import (
	"net/url"
	"slices"
	"strings"
)

// query is a URL's query, in its parts. What isn't taken out stays exactly as it
// was written: servers may have signed it.
type query struct{ parts []string }

func splitQuery(raw string) *query {
	if raw == "" {
		return &query{}
	}
	return &query{strings.Split(raw, "&")}
}

// take removes a parameter, and returns the first value that it had.
func (q *query) take(name string) (value string, found bool) {
	q.parts = slices.DeleteFunc(q.parts, func(part string) bool {
		key, text, _ := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(key); err != nil || decoded != name {
			return false
		}
		if decoded, err := url.QueryUnescape(text); err == nil && !found {
			value, found = decoded, true
		}
		return true
	})
	return value, found
}

// String joins what is left.
func (q *query) String() string { return strings.Join(q.parts, "&") }
