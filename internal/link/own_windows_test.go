package link

import "testing"

// openings is empty, as access lists are the only way.
var openings map[string]func(t *testing.T, path string)
