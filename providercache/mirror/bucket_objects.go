package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
)

// The headers of a bucket's objects. Archives never change. A cache may serve a document that is a minute old, one
// that is ten minutes old while it asks for a new one, and one that is a day old if the bucket doesn't answer.
const (
	archiveLifetime  = "public, max-age=31536000, immutable"
	documentLifetime = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400"

	archiveType  = "application/zip"
	documentType = "application/json"
	listType     = "text/plain"
	binaryType   = "application/octet-stream"

	// maxAttempts bounds how often a document is read and written again because other publishers change it.
	maxAttempts = 40
)

// errBusy says that too many others change the document.
var errBusy = errors.New("others keep changing it; run it again")

func versionKey(p getproviders.Provider, v getproviders.Version) string {
	return archivedir.MirrorDir(p) + "/" + archivedir.VersionName(v)
}

func indexKey(p getproviders.Provider) string {
	return archivedir.MirrorDir(p) + "/" + archivedir.IndexName
}

// Put implements place.
func (b *inBucket) Put(ctx context.Context, kept []archivedir.Kept) error {
	for _, k := range kept {
		if k.Stage == nil {
			continue
		}
		defer k.Stage.Remove()
		if err := b.putArchive(ctx, k); err != nil {
			return k.Failed(during.Publish, err)
		}
	}
	return nil
}

// putArchive writes an archive if the key is free or its object is damaged.
// Any other object under the key has to have the same content.
func (b *inBucket) putArchive(ctx context.Context, k archivedir.Kept) error {
	name, zh := k.Name, k.Known.Receipt.ZH
	content, err := os.Open(k.Stage.ArchivePath())
	if err != nil {
		return err
	}
	defer content.Close()
	stat, err := content.Stat()
	if err != nil {
		return err
	}
	section := io.NewSectionReader(content, 0, stat.Size())
	opts := blob.PutOptions{ContentType: archiveType, CacheControl: archiveLifetime, IfAbsent: k.Lost != zh}
	_, err = b.bucket.Put(ctx, name, section, opts)
	if errors.Is(err, blob.ErrUnsupported) {
		if _, err = b.bucket.Stat(ctx, name); err == nil {
			return b.sameArchive(ctx, name, zh)
		}
		opts.IfAbsent = false
		_, err = b.bucket.Put(ctx, name, section, opts)
	}
	if errors.Is(err, blob.ErrExists) {
		return b.sameArchive(ctx, name, zh)
	}
	return err
}

// sameArchive reads an archive that no document lists, and returns an error if its hash isn't zh.
func (b *inBucket) sameArchive(ctx context.Context, name string, zh getproviders.Hash) error {
	object, err := b.bucket.Get(ctx, name, blob.GetOptions{})
	if err != nil {
		return err
	}
	defer object.Body.Close()
	sum, _, err := chunks.SHA256(ctx, object.Body)
	if err != nil {
		return err
	}
	if is := getproviders.ZH(sum); is != zh {
		return &getproviders.Fault{Code: "bucket", Err: fmt.Errorf("%s has other content (%s) than the package that was fetched (%s), and archives of a bucket are never replaced", b.at(name), is, zh),
			Hint: "find out who put it there, and which of the two the publisher signed: lock files may have the hash of either. If it is the one that was fetched, delete the other in the bucket, and run again"}
	}
	return nil
}

// The documents of a mirror have one attribute, a map.
const (
	versionsListed = "versions" // in the index
	archivesListed = "archives" // in the document about a version
)

// readDocument returns the map in a document, and the object's tag. For a missing document the map is empty, and the tag "".
func readDocument[T any](ctx context.Context, b *inBucket, key, argument string) (listed map[string]T, tag string, err error) {
	listed = map[string]T{}
	text, info, err := blob.ReadAll(ctx, b.bucket, key, archivedir.MaxDocument)
	if errors.Is(err, blob.ErrNotFound) {
		return listed, "", nil
	}
	var document map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if content := document[argument]; err == nil && content != nil {
		err = json.Unmarshal(content, &listed)
	}
	if listed == nil { // null
		listed = map[string]T{}
	}
	return listed, info.Tag, b.unlisted(key, err)
}

// changeDocument changes the map in a document. It reads the document, and writes it on the condition that no other process changed it
// meanwhile, until that succeeds. Without such conditions, it writes the document and reads it again, until it has the change.
func changeDocument[T any](ctx context.Context, b *inBucket, key, argument string, change func(listed map[string]T)) error {
	conditional := true
	for attempt := range maxAttempts {
		listed, tag, err := readDocument[T](ctx, b, key, argument)
		if err != nil {
			return err
		}
		before := maps.Clone(listed)
		change(listed)
		if reflect.DeepEqual(before, listed) && (tag != "" || len(before) == 0) {
			return nil
		}
		opts := blob.PutOptions{ContentType: documentType, CacheControl: documentLifetime}
		if conditional {
			opts.IfMatch, opts.IfAbsent = tag, tag == ""
		}
		_, err = b.bucket.Put(ctx, key, blob.Bytes(archivedir.Encode(map[string]any{argument: listed})), opts)
		switch {
		case errors.Is(err, blob.ErrUnsupported) && conditional:
			conditional = false
			continue
		case err == nil && conditional:
			return nil
		case err != nil && !errors.Is(err, blob.ErrChanged) && !errors.Is(err, blob.ErrExists):
			return b.unlisted(key, err)
		}
		if err := par.Pause(ctx, time.Duration(rand.Int64N(int64(10*time.Millisecond)*int64(1+min(attempt, 20))))); err != nil {
			return err
		}
	}
	return b.unlisted(key, errBusy)
}

// Read implements archivedir.Files.
func (b *inBucket) Read(ctx context.Context, name string) ([]byte, error) {
	content, _, err := blob.ReadAll(ctx, b.bucket, name, archivedir.MaxDocument)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	return content, b.unlisted(name, err)
}

// Write implements archivedir.Files, for signed documents.
func (b *inBucket) Write(ctx context.Context, name string, content []byte) error {
	opts := blob.PutOptions{ContentType: listType, CacheControl: documentLifetime}
	switch path.Ext(name) {
	case ".json":
		opts.ContentType = documentType
	case ".sig":
		opts.ContentType = binaryType
	}
	_, err := b.bucket.Put(ctx, name, blob.Bytes(content), opts)
	return b.unlisted(name, err)
}

// RemoveFile implements tree, and archivedir.Files.
func (b *inBucket) RemoveFile(ctx context.Context, name string) error {
	return b.unlisted(name, b.bucket.Delete(ctx, name))
}

// unlisted is archivedir.Unlisted for an error about an object; it returns nil for nil.
func (b *inBucket) unlisted(key string, err error) error {
	if err == nil {
		return nil
	}
	return archivedir.Unlisted(b.at(key), err)
}

// baseName returns the last part of a key.
func baseName(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
