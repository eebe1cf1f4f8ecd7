package nesting

import (
	"strings"
	"testing"
)

// TestExceeds_StringsOfJSONEndAsForTheParser has strings that the parser ends earlier or later than other parsers,
// followed by brackets.
func TestExceeds_StringsOfJSONEndAsForTheParser(t *testing.T) {
	t.Parallel()
	const most = 100
	for begin, hides := range map[string]bool{
		"[":                               false,
		"[\"a\",":                         false,
		"[\"a":                            true,
		"[\"a\\\"":                        true,
		"[\"\u00e9\",":                    false,
		"[\"a\n,":                         false, // a control character ends a string
		"[\"a\\\n,":                       false,
		"[\"\u0600\"\",":                  false, // a letter is one with the quotation mark
		"[\"\u0600\\\",\n\"\",":           false, // or with the backslash
		"[\"\\\u0600\"\",":                false,
		"[\"\u0d4e\"\",":                  false,
		"[\"\U000110bd\U000111c2\"\",":    false,
		strings.Repeat("[\"[[[\"],", 200): false,
	} {
		if _, deep := Exceeds([]byte(begin+strings.Repeat("[", 2*most)), true, most); deep == hides {
			t.Errorf("%q: %t", begin, deep)
		}
	}
	if _, deep := Exceeds([]byte("["+strings.Repeat("{\"\u00e9[\": [\"[{\\\"\"]},", 1000)), true, most); deep {
		t.Error("brackets side by side, and in strings, count")
	}
	if _, deep := Exceeds([]byte(strings.Repeat("[],", most)+"\"a\\"), true, most); deep {
		t.Error("a string that ends with a backslash is taken for brackets")
	}
}
