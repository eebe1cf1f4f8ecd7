// Package blobtest has the tests that every bucket of package blob has to pass:
//
//	func TestBucket_Conforms(t *testing.T) {
//		blobtest.Run(t, func(t *testing.T) blob.Bucket { return newEmptyBucket(t) })
//	}
//
// It is for tests of those who implement a [blob.Bucket].
package blobtest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// Run tests a bucket. newBucket returns a new, empty one for each test; Run closes it.
func Run(t *testing.T, newBucket func(t *testing.T) blob.Bucket) {
	for name, test := range map[string]func(*testing.T, blob.Bucket){
		"reads what was written":                 readsWhatWasWritten,
		"reads parts":                            readsParts,
		"reads an empty object":                  readsEmptyObject,
		"says what isn't there":                  saysWhatIsMissing,
		"replaces an object":                     replaces,
		"writes where nothing is":                writesIfAbsent,
		"writes what hasn't changed":             writesIfMatch,
		"lists by prefix":                        lists,
		"takes the characters that keys have":    takesOddKeys,
		"refuses keys that not all can have":     refusesKeys,
		"keeps what the options say, or none":    keepsOptions,
		"one of many writers wins":               oneWriterWins,
		"no update of many writers is lost":      losesNoUpdate,
		"readers see whole objects":              showsWholeObjects,
		"ends with its context":                  endsWithContext,
		"writes nothing if the content is short": writesNoPart,
		"is also one below a prefix":             isOneBelowPrefix,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket := newBucket(t)
			t.Cleanup(func() {
				if err := bucket.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, bucket)
		})
	}
}

// put writes an object, and fails the test if that fails.
func put(t *testing.T, b blob.Bucket, key, content string) blob.Info {
	t.Helper()
	info, err := b.Put(t.Context(), key, blob.Bytes([]byte(content)), blob.PutOptions{ContentType: "text/plain"})
	if err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	if info.Key != key || info.Size != int64(len(content)) || info.Tag == "" {
		t.Errorf("put %s of %d bytes: %+v", key, len(content), info)
	}
	return info
}

// want reads a part of an object, and compares it with content.
func want(t *testing.T, b blob.Bucket, key string, opts blob.GetOptions, content string) blob.Info {
	t.Helper()
	object, err := b.Get(t.Context(), key, opts)
	if err != nil {
		t.Fatalf("get %s %+v: %v", key, opts, err)
	}
	got, err := io.ReadAll(object.Body)
	if err = errors.Join(err, object.Body.Close()); err != nil || string(got) != content {
		t.Fatalf("get %s %+v: %.80q, %v; want %.80q", key, opts, got, err, content)
	}
	if object.Key != key {
		t.Errorf("get %s: %+v", key, object.Info)
	}
	return object.Info
}

func fails(t *testing.T, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) || getproviders.CodeOf(err) != "bucket" {
		t.Errorf("%s: the error is %v, want one of blob.Fail that is %q", what, err, kind)
	}
}

func readsWhatWasWritten(t *testing.T, b blob.Bucket) {
	content := strings.Repeat("content ", 100_000)
	put(t, b, "other", "another one")
	written := put(t, b, "a/b/c.zip", content)
	read := want(t, b, "a/b/c.zip", blob.GetOptions{}, content)
	stat, err := b.Stat(t.Context(), "a/b/c.zip")
	if err != nil || stat.Tag != written.Tag || read.Tag != written.Tag || stat.Size != int64(len(content)) || read.Size != stat.Size || stat.Key != "a/b/c.zip" {
		t.Errorf("written: %+v, read: %+v, stat: %+v, %v", written, read, stat, err)
	}
	if age := time.Since(stat.Modified).Abs(); age > time.Hour {
		t.Errorf("it was changed %s ago", age)
	}
	want(t, b, "a/b/c.zip", blob.GetOptions{IfMatch: stat.Tag}, content)
	if err := b.Delete(t.Context(), "a/b/c.zip"); err != nil {
		t.Fatal(err)
	}
	_, err = b.Stat(t.Context(), "a/b/c.zip")
	fails(t, "what was deleted", err, blob.ErrNotFound)
	want(t, b, "other", blob.GetOptions{}, "another one")
}

func readsParts(t *testing.T, b blob.Bucket) {
	tag := put(t, b, "key", "0123456789").Tag
	for _, part := range []struct {
		offset, length int64
		content        string
	}{{0, 0, "0123456789"}, {0, 3, "012"}, {3, 4, "3456"}, {9, 0, "9"}, {9, 5, "9"}, {8, 100, "89"}, {0, 100, "0123456789"}} {
		info := want(t, b, "key", blob.GetOptions{Offset: part.offset, Length: part.length, IfMatch: tag}, part.content)
		if info.Size != 10 || info.Tag != tag {
			t.Errorf("a part has the info %+v", info)
		}
	}
	for _, opts := range []blob.GetOptions{{Offset: 10}, {Offset: 11}, {Offset: 1000, Length: 5}, {Offset: -1}, {Length: -1}} {
		_, err := b.Get(t.Context(), "key", opts)
		fails(t, fmt.Sprintf("%+v", opts), err, blob.ErrRange)
	}
}

func readsEmptyObject(t *testing.T, b blob.Bucket) {
	put(t, b, "empty", "")
	want(t, b, "empty", blob.GetOptions{}, "")
	want(t, b, "empty", blob.GetOptions{Length: 5}, "")
	_, err := b.Get(t.Context(), "empty", blob.GetOptions{Offset: 1})
	fails(t, "past the end", err, blob.ErrRange)
}

func saysWhatIsMissing(t *testing.T, b blob.Bucket) {
	put(t, b, "dir/key", "content")
	for _, key := range []string{"none", "dir", "dir/ke", "dir/key/below", "dir/key2"} {
		_, err := b.Get(t.Context(), key, blob.GetOptions{})
		fails(t, "get "+key, err, blob.ErrNotFound)
		_, err = b.Get(t.Context(), key, blob.GetOptions{Offset: 5, IfMatch: "tag"})
		if !errors.Is(err, blob.ErrNotFound) && !errors.Is(err, blob.ErrChanged) {
			t.Errorf("get a part of %s: %v", key, err)
		}
		_, err = b.Stat(t.Context(), key)
		fails(t, "stat "+key, err, blob.ErrNotFound)
		if err := b.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	want(t, b, "dir/key", blob.GetOptions{}, "content")
}

func lists(t *testing.T, b blob.Bucket) {
	for _, key := range []string{"a", "b/1", "b/2/x", "bc", "b2/1"} {
		put(t, b, key, "content of "+key)
	}
	for prefix, keys := range map[string]string{
		"": "a b/1 b/2/x b2/1 bc", "b": "b/1 b/2/x b2/1 bc", "b/": "b/1 b/2/x", "b/2": "b/2/x", "b/2/": "b/2/x", "a": "a",
		"c": "", "a/": "", "b/2/x/": "", "b/2/x": "b/2/x", "../": "", "/": "",
	} {
		found := listed(t, b, prefix)
		if got := strings.Join(slices.Sorted(maps.Keys(found)), " "); got != keys {
			t.Errorf("%q lists %q, want %q", prefix, got, keys)
		}
		for key, info := range found {
			if info.Size != int64(len("content of "+key)) || info.Modified.IsZero() {
				t.Errorf("%q lists %+v", prefix, info)
			}
		}
	}
	for range b.List(t.Context(), "") {
		break
	}
}

func listed(t *testing.T, b blob.Bucket, prefix string) map[string]blob.Info {
	t.Helper()
	found := map[string]blob.Info{}
	for info, err := range b.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("list %q: %v", prefix, err)
		}
		if _, twice := found[info.Key]; twice {
			t.Errorf("%s is listed twice", info.Key)
		}
		found[info.Key] = info
	}
	return found
}

func takesOddKeys(t *testing.T, b blob.Bucket) {
	keys := []string{"a b", "a+b", "a%20b", "a%2Fb", "ü/ö", "a&b=c", "~(a)!'", "$@,;[]{}^`", "#", ".a", "a.", "a..b", strings.Repeat("long/", 100) + "x"}
	for _, key := range keys {
		if strings.HasSuffix(key, ".") {
			continue // Windows has no such files
		}
		put(t, b, key, "content of "+key)
	}
	for _, key := range keys {
		if strings.HasSuffix(key, ".") {
			continue
		}
		want(t, b, key, blob.GetOptions{}, "content of "+key)
		if found := listed(t, b, key); found[key].Key != key {
			t.Errorf("%q isn't listed: %v", key, found)
		}
		if err := b.Delete(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
	if found := listed(t, b, ""); len(found) != 0 {
		t.Errorf("all were deleted, and there are %v", found)
	}
}

func refusesKeys(t *testing.T, b blob.Bucket) {
	for _, key := range []string{"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "../a", `a\b`, "a\x00b", "a\nb", "\xff", strings.Repeat("x", 901)} {
		_, err := b.Get(t.Context(), key, blob.GetOptions{})
		fails(t, "get "+key, err, blob.ErrKey)
		_, err = b.Stat(t.Context(), key)
		fails(t, "stat "+key, err, blob.ErrKey)
		_, err = b.Put(t.Context(), key, blob.Bytes(nil), blob.PutOptions{})
		fails(t, "put "+key, err, blob.ErrKey)
		fails(t, "delete "+key, b.Delete(t.Context(), key), blob.ErrKey)
	}
	if found := listed(t, b, ""); len(found) != 0 {
		t.Errorf("there is %v", found)
	}
}

func isOneBelowPrefix(t *testing.T, b blob.Bucket) {
	below := blob.Sub(b, "pre/fix")
	put(t, b, "pre/fix2", "beside")
	put(t, below, "a/b", "below")
	want(t, b, "pre/fix/a/b", blob.GetOptions{}, "below")
	want(t, below, "a/b", blob.GetOptions{}, "below")
	if stat, err := below.Stat(t.Context(), "a/b"); err != nil || stat.Key != "a/b" {
		t.Errorf("%+v, %v", stat, err)
	}
	if found := listed(t, below, ""); len(found) != 1 || found["a/b"].Key != "a/b" {
		t.Errorf("there is %v", found)
	}
	_, err := below.Stat(t.Context(), "none")
	fails(t, "what isn't there", err, blob.ErrNotFound)
	if !strings.Contains(err.Error(), "/pre/fix/none: ") {
		t.Errorf("%v", err)
	}
	_, err = below.Stat(t.Context(), "../fix2")
	fails(t, "what leads out of the prefix", err, blob.ErrKey)
	if err := below.Delete(t.Context(), "a/b"); err != nil {
		t.Error(err)
	}
	if found := listed(t, b, ""); len(found) != 1 || found["pre/fix2"].Key == "" {
		t.Errorf("there is %v", found)
	}
}
