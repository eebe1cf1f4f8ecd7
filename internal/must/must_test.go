package must

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a testing.TB that continues after a failure.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper() {}

func (r *recorder) FailNow() { r.said += "\nends" }

func (r *recorder) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }

func (r *recorder) Fatal(args ...any) { r.said += "fatal: " + strings.TrimSpace(fmt.Sprintln(args...)) }

// TestFunctions_Fail lets each function fail once and pass once.
func TestFunctions_Fail(t *testing.T) {
	list, wrapped := []string{"a", "b"}, fmt.Errorf("reading: %w", io.EOF)
	for name, c := range map[string]struct {
		bad, good func(*recorder)
		want      string
	}{
		"Succeed":     {func(r *recorder) { Succeed(r, io.EOF) }, func(r *recorder) { Succeed(r, nil) }, "fatal: EOF"},
		"Get":         {func(r *recorder) { Get(1, io.EOF)(r, "it") }, func(r *recorder) { Equal(r, Get(1, nil)(r), 1) }, "fatal: EOF it"},
		"Equal":       {func(r *recorder) { Equal(r, 1, 2, "it") }, func(r *recorder) { Equal(r, "a", "a") }, "[it]\ngot:  1\nwant: 2"},
		"EqualSlices": {func(r *recorder) { EqualSlices(r, list, list[:1]) }, func(r *recorder) { EqualSlices(r, []int{}, nil) }, "[]\ngot:  [\"a\" \"b\"]\nwant: [\"a\"]"},
		"Len":         {func(r *recorder) { Len(r, list, 3) }, func(r *recorder) { Len(r, "ab", 2); Len(r, map[int]int{1: 1}, 1) }, "3 elements\"\nends"},
		"Contain":     {func(r *recorder) { Contain(r, nil, "") }, func(r *recorder) { Contain(r, wrapped, "ing: EOF") }, "something with "},
		"NotContain":  {func(r *recorder) { NotContain(r, "axb", "x") }, func(r *recorder) { NotContain(r, "ab", "x") }, "nothing with x"},
		"DeepEqual":   {func(r *recorder) { DeepEqual(r, list, list[:1]) }, func(r *recorder) { DeepEqual(r, list, []string{"a", "b"}) }, "want: [\"a\"]"},
		"As":          {func(r *recorder) { As[*fs.PathError](r, wrapped, "it") }, func(r *recorder) { As[*fs.PathError](r, fmt.Errorf("%w", &fs.PathError{})) }, "want: a *fs.PathError\nends"},
		"Refuse":      {func(r *recorder) { Refuse(1, nil)(r, "it") }, func(r *recorder) { Refuse(1, io.EOF)(r) }, "[it]"},
		"Fail":        {func(r *recorder) { Fail(r, errors.New("EOF"), io.EOF) }, func(r *recorder) { Fail(r, ErrorOf(1, 2, wrapped), io.EOF) }, "EOF"},
	} {
		var bad, good recorder
		if c.bad(&bad); !strings.Contains(bad.said, c.want) {
			t.Errorf("%s says %q, want %q", name, bad.said, c.want)
		}
		if c.good(&good); good.said != "" {
			t.Errorf("%s finds %q", name, good.said)
		}
	}
	Succeed(t, ErrorOf(1, nil))
}

func TestWrite_MakesAFileAndItsDirectories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a/b/c.txt")
	Write(t, path, "first")
	Write(t, path, []byte("second"))
	Equal(t, string(Get(os.ReadFile(path))(t)), "second")
	Equal(t, Get(os.Stat(path))(t).Mode().Perm()&0o700, 0o600)
	dir := WriteAll(t, t.TempDir(), map[string][]byte{"a/b": []byte("x"), "c/": nil})
	Equal(t, string(Get(os.ReadFile(filepath.Join(dir, "a/b")))(t)), "x")
	Equal(t, Get(os.Stat(filepath.Join(dir, "c")))(t).IsDir(), true)
}
