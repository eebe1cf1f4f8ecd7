package blobtest

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/providercache/blob"
)

func replaces(t *testing.T, b blob.Bucket) {
	old := put(t, b, "key", "old")
	fresh := put(t, b, "key", "new")
	if old.Tag == fresh.Tag {
		t.Errorf("both have the tag %q", old.Tag)
	}
	want(t, b, "key", blob.GetOptions{}, "new")
	want(t, b, "key", blob.GetOptions{IfMatch: fresh.Tag}, "new")
	_, err := b.Get(t.Context(), "key", blob.GetOptions{IfMatch: old.Tag})
	fails(t, "get what was", err, blob.ErrChanged)
}

func writesIfAbsent(t *testing.T, b blob.Bucket) {
	opts := blob.PutOptions{IfAbsent: true}
	if _, err := b.Put(t.Context(), "key", blob.Bytes([]byte("first")), opts); err != nil {
		t.Fatal(err)
	}
	_, err := b.Put(t.Context(), "key", blob.Bytes([]byte("second")), opts)
	fails(t, "the second time", err, blob.ErrExists)
	want(t, b, "key", blob.GetOptions{}, "first")
	if err := b.Delete(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), "key", blob.Bytes([]byte("third")), opts); err != nil {
		t.Error(err)
	}
	if _, err := b.Put(t.Context(), "key", blob.Bytes(nil), blob.PutOptions{IfAbsent: true, IfMatch: "x"}); err == nil {
		t.Error("an object can't be absent and have a tag")
	}
}

func writesIfMatch(t *testing.T, b blob.Bucket) {
	old := put(t, b, "key", "old")
	change := func(key, tag string) error {
		_, err := b.Put(t.Context(), key, blob.Bytes([]byte("new")), blob.PutOptions{IfMatch: tag})
		return err
	}
	if err := change("key", old.Tag); err != nil {
		t.Fatal(err)
	}
	fails(t, "what has changed", change("key", old.Tag), blob.ErrChanged)
	fails(t, "what isn't there", change("none", old.Tag), blob.ErrChanged)
	want(t, b, "key", blob.GetOptions{}, "new")
	_, err := b.Stat(t.Context(), "none")
	fails(t, "what isn't there", err, blob.ErrNotFound)
}

func keepsOptions(t *testing.T, b blob.Bucket) {
	for kind, control := range map[string]string{"application/json": "max-age=60", "application/zip": ""} {
		if _, err := b.Put(t.Context(), "key", blob.Bytes([]byte("{}")), blob.PutOptions{ContentType: kind, CacheControl: control}); err != nil {
			t.Fatal(err)
		}
		stat, err := b.Stat(t.Context(), "key")
		read := want(t, b, "key", blob.GetOptions{}, "{}")
		for _, info := range []blob.Info{stat, read} {
			if err != nil || info.ContentType != "" && info.ContentType != kind || info.ContentType != "" && info.CacheControl != control {
				t.Errorf("of %q and %q it kept %+v, %v", kind, control, info, err)
			}
		}
	}
}

func endsWithContext(t *testing.T, b blob.Bucket) {
	put(t, b, "key", "content")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Get(ctx, "key", blob.GetOptions{})
	fails(t, "get", err, context.Canceled)
	_, err = b.Stat(ctx, "key")
	fails(t, "stat", err, context.Canceled)
	_, err = b.Put(ctx, "new", blob.Bytes([]byte("content")), blob.PutOptions{})
	fails(t, "put", err, context.Canceled)
	fails(t, "delete", b.Delete(ctx, "key"), context.Canceled)
	for _, err = range b.List(ctx, "") {
		break
	}
	fails(t, "list", err, context.Canceled)
	if found := listed(t, b, ""); len(found) != 1 {
		t.Errorf("there is %v", found)
	}
}

func writesNoPart(t *testing.T, b blob.Bucket) {
	put(t, b, "key", "old")
	short := io.NewSectionReader(strings.NewReader("short"), 0, 500_000)
	if _, err := b.Put(t.Context(), "key", short, blob.PutOptions{}); err == nil {
		t.Error("content of 5 bytes was taken for 500,000")
	}
	want(t, b, "key", blob.GetOptions{}, "old")
	read := blob.Bytes([]byte("content"))
	if _, err := io.ReadAll(read); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), "key", read, blob.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	want(t, b, "key", blob.GetOptions{}, "content")
}
