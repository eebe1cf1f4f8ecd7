package link

import "testing"

// openings: access lists are the only way.
var openings map[string]func(t *testing.T, path string)
