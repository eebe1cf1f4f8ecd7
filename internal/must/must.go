// Package must has the assertions of this module's tests.
package must

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Succeed ends the test with err, and with about, if err isn't nil.
func Succeed(tb testing.TB, err error, about ...any) {
	tb.Helper()
	if err != nil {
		tb.Fatal(append([]any{err}, about...)...)
	}
}

// Get takes the results of a call. The function that it returns ends the test if err isn't nil, and
// returns the value otherwise.
func Get[T any](value T, err error) func(tb testing.TB, about ...any) T {
	return func(tb testing.TB, about ...any) T {
		tb.Helper()
		Succeed(tb, err, about...)
		return value
	}
}

// Write writes a file, and makes its directories.
func Write[Content ~string | ~[]byte](tb testing.TB, path string, content Content) {
	tb.Helper()
	Succeed(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	Succeed(tb, os.WriteFile(path, []byte(content), 0o644))
}

// WriteAll writes files into dir, and returns dir. Names are slash-separated; one that ends with a slash is a directory.
func WriteAll[Content ~string | ~[]byte](tb testing.TB, dir string, contents map[string]Content) string {
	tb.Helper()
	for name, content := range contents {
		if path := filepath.Join(dir, filepath.FromSlash(name)); strings.HasSuffix(name, "/") {
			Succeed(tb, os.MkdirAll(path, 0o755))
		} else {
			Write(tb, path, content)
		}
	}
	return dir
}

// Symlink is os.Symlink, and fails on Wine, which reports success without making a symlink.
func Symlink(target, path string) error {
	err := os.Symlink(target, path)
	if err == nil {
		_, err = os.Readlink(path)
	}
	return err
}

// Equal fails the test unless got is want. All functions below except Len and As let the test continue, and print about first.
func Equal[T comparable](tb testing.TB, got, want T, about ...any) {
	tb.Helper()
	if got != want {
		differ(tb, got, want, about)
	}
}

// EqualSlices fails the test unless got has the elements of want, in their order.
func EqualSlices[E comparable](tb testing.TB, got, want []E, about ...any) {
	tb.Helper()
	if !slices.Equal(got, want) {
		differ(tb, got, want, about)
	}
}

// Len ends the test unless a list, a map or a string has n elements, so that the test can index them afterwards.
func Len(tb testing.TB, list any, n int, about ...any) {
	tb.Helper()
	if reflect.ValueOf(list).Len() != n {
		differ(tb, list, fmt.Sprint(n, " elements"), about)
		tb.FailNow()
	}
}

// Contain fails the test unless a string, or an error's text, contains part. A nil error contains
// nothing.
func Contain(tb testing.TB, text any, part string, about ...any) {
	tb.Helper()
	if text == nil || !strings.Contains(fmt.Sprint(text), part) {
		differ(tb, text, "something with "+part, about)
	}
}

// NotContain fails the test if a string, or an error's text, contains part.
func NotContain(tb testing.TB, text any, part string, about ...any) {
	tb.Helper()
	if strings.Contains(fmt.Sprint(text), part) {
		differ(tb, text, "nothing with "+part, about)
	}
}

// Fail fails the test unless err is, or wraps, target.
func Fail(tb testing.TB, err, target error, about ...any) {
	tb.Helper()
	if !errors.Is(err, target) {
		differ(tb, err, target, about)
	}
}

// DeepEqual fails the test unless got and want are deeply equal.
func DeepEqual(tb testing.TB, got, want any, about ...any) {
	tb.Helper()
	if !reflect.DeepEqual(got, want) {
		differ(tb, got, want, about)
	}
}

// As returns the first error of type E in err's tree. If there is no such error, it ends the test.
func As[E error](tb testing.TB, err error, about ...any) E {
	tb.Helper()
	found, ok := errors.AsType[E](err)
	if !ok {
		differ(tb, err, fmt.Sprintf("a %T", found), about)
		tb.FailNow()
	}
	return found
}

// Refuse takes the results of a call. The function that it returns fails the test unless the last
// one is an error.
func Refuse(results ...any) func(tb testing.TB, about ...any) {
	return func(tb testing.TB, about ...any) {
		tb.Helper()
		if ErrorOf(results...) == nil {
			differ(tb, results, "an error", about)
		}
	}
}

// ErrorOf returns the last result of a call as an error.
func ErrorOf(results ...any) error {
	err, _ := results[len(results)-1].(error)
	return err
}

func differ(tb testing.TB, got, want any, about []any) {
	tb.Helper()
	layout := "%v\ngot:  %+v\nwant: %+v"
	switch got.(type) {
	case []byte, []string:
		layout = "%v\ngot:  %q\nwant: %q"
	}
	tb.Errorf(layout, about, got, want)
}
