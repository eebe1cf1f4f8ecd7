package mirrorserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

const (
	// refreshLimit is how long clients wait for the source if there is an older answer.
	// After that, the source isn't asked again for silentPause times as long as it took.
	refreshLimit = 15 * time.Second
	silentPause  = 4

	// recordBytes is the maximal size of a record in the bucket: a list of checksums, a thousand platforms.
	recordBytes = 8 << 20
)

// answers are the source's answers of one kind, in memory and in the bucket, by key.
type answers[V any] struct {
	server *Server
	maxAge time.Duration
	memory bool // not in the bucket
	secret bool // other users can't read the records in the bucket

	maxStale time.Duration // maximal age of a value that is returned because the source fails; 0: any age
	calls    par.Memo[string, *answer[V]]
	last     atomic.Int64 // the last serial
	recent   *par.Recent[string, *answer[V]]
}

// answer is an answer of the source. It is immutable.
type answer[V any] struct {
	value  V
	serial int64     // distinguishes answers to the same question
	asked  time.Time // when the source answered
	retry  time.Time // the source failed; it isn't asked again before this time
	err    error     // why value is missing
	cost   int64     // memory in bytes to make a document of value

	encoded atomic.Pointer[[]*document] // the last documents that were made of value
}

// documentsKept is how many documents are kept with the answer that they were made of.
const documentsKept = 4

// document returns a recent document of the variant, or has encode make one. The error is par.ErrNoRoom, or the cause of ctx.
func (a *answer[V]) document(ctx context.Context, room *par.Room, variant string, encode func() []byte) (*document, error) {
	if _, made := a.made(variant); made != nil {
		return made, nil
	}
	account := room.Open()
	defer account.Close()
	if err := account.Take(ctx, a.cost); err != nil {
		return nil, err
	}
	known, made := a.made(variant) // another request may have made it meanwhile
	if made == nil {
		made = newDocument(variant, encode())
		made.pack()
		kept := append([]*document{made}, known[:min(len(known), documentsKept-1)]...)
		a.encoded.Store(&kept)
	}
	return made, nil
}

// made returns the documents that were made of the value, and that of a variant, or nil.
func (a *answer[V]) made(variant string) (all []*document, one *document) {
	if last := a.encoded.Load(); last != nil {
		all = *last
	}
	for _, made := range all {
		if made.variant == variant {
			one = made
		}
	}
	return all, one
}

// record is an answer in the bucket.
type record[V any] struct {
	Asked time.Time `json:"asked"`
	Value V         `json:"value"`
}

func newAnswers[V any](s *Server, maxAge time.Duration, budget int64) *answers[V] {
	return &answers[V]{server: s, maxAge: maxAge, recent: par.NewRecent[string, *answer[V]](budget)}
}

// get returns the value for a key: from memory if it is fresh, else from the bucket, else from the source. Concurrent
// calls for the same key share the request. If the source fails, an older value is returned, up to an age of maxStale.
func (a *answers[V]) get(ctx context.Context, key string, ask func(context.Context) (V, error)) (*answer[V], error) {
	if known, ok := a.recent.Get(key); ok && a.current(known) {
		a.tell(ctx, "hit")
		return known, known.err
	}
	begun := a.server.fetcher.Now()
	got, err := a.calls.Do(ctx, key, func(ctx context.Context) (*answer[V], error) { return a.renew(ctx, key, ask) })
	a.calls.Forget(key) // recent keeps the answer
	if err != nil {
		return nil, err
	}
	if got.asked.Before(begun) && got.err == nil {
		a.tell(ctx, "hit")
	} else {
		a.tell(ctx, "fwd=miss")
	}
	return got, got.err
}

// tell sets the Cache-Status header. Answers that are only in memory don't count.
func (a *answers[V]) tell(ctx context.Context, status string) {
	if !a.memory {
		tellCache(ctx, status)
	}
}

// current reports whether an answer can be used without asking the source.
func (a *answers[V]) current(known *answer[V]) bool {
	now := a.server.fetcher.Now()
	return now.Before(known.retry) || known.err == nil && now.Sub(known.asked) < a.maxAge
}

// renew returns the known answer if it is current, else asks the source. The error is the cause of ctx.
func (a *answers[V]) renew(ctx context.Context, key string, ask func(context.Context) (V, error)) (*answer[V], error) {
	account := a.server.room.Open()
	defer account.Close()
	ctx = hosts.WithMeter(ctx, account.Take)
	known, _ := a.recent.Get(key)
	if known != nil && a.current(known) { // another caller has asked meanwhile
		return known, nil
	}
	if known == nil || known.err != nil {
		var err error
		if known, err = a.inBucket(ctx, key, account); err != nil {
			return nil, err
		}
	}
	if known != nil && a.current(known) {
		return a.remember(key, known), nil
	}
	if known != nil && a.maxStale > 0 && a.server.fetcher.Now().Sub(known.asked) > a.maxStale {
		known = nil
	}
	limited, cancel := ctx, func() {}
	if known != nil {
		limited, cancel = context.WithTimeoutCause(ctx, refreshLimit, errors.New("the source took too long"))
	}
	defer cancel()
	begun := a.server.fetcher.Now()
	value, err := ask(limited)
	now := a.server.fetcher.Now()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		got := &answer[V]{value: value, serial: a.last.Add(1), asked: now}
		a.store(ctx, key, got)
		return a.remember(key, got), nil
	}
	if known == nil && errors.Is(err, par.ErrNoRoom) { // the source isn't to blame
		return nil, err
	}
	got := &answer[V]{err: err, retry: now.Add(retryAfter)}
	if known != nil {
		a.server.counts.stale.Add(1)
		a.server.opts.Log.Warn("the source fails, so its earlier answer is used", "about", key, "error", err.Error())
		got = &answer[V]{value: known.value, cost: known.cost, serial: a.last.Add(1), asked: known.asked, retry: now.Add(max(retryAfter, silentPause*now.Sub(begun)))}
	} else if !errors.Is(err, getproviders.ErrNotFound) {
		a.server.counts.sourceFailures.Add(1)
	}
	return a.remember(key, got), nil
}

// inBucket returns the answer that this server or another one has stored, or nil. The error is that of the account.
func (a *answers[V]) inBucket(ctx context.Context, key string, account *par.Account) (*answer[V], error) {
	if a.memory {
		return nil, nil
	}
	content, err := a.read(ctx, key, account)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	cost := hosts.DecodedBytes(content)
	if err == nil {
		err = account.Take(ctx, cost)
	}
	var stored record[V]
	if err == nil {
		err = json.Unmarshal(content, &stored)
	}
	if errors.Is(err, par.ErrNoRoom) {
		return nil, err
	}
	if err != nil {
		a.server.opts.Log.Warn("the bucket can't be read", "key", key, "error", err.Error())
		return nil, nil
	}
	return &answer[V]{value: stored.Value, cost: cost, serial: a.last.Add(1), asked: stored.Asked}, nil
}

// read reads a record.
func (a *answers[V]) read(ctx context.Context, key string, account *par.Account) ([]byte, error) {
	object, err := a.server.bucket.Get(ctx, key, blob.GetOptions{})
	if err != nil {
		return nil, err
	}
	defer object.Body.Close()
	if object.Size > recordBytes {
		return nil, blob.Fail("get", a.server.bucket, key, fmt.Errorf("%w of %d bytes", blob.ErrTooLarge, recordBytes))
	}
	if err := account.Take(ctx, 2*object.Size); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(object.Body, object.Size))
}

// store puts an answer into the bucket. If that fails, the server goes on.
func (a *answers[V]) store(ctx context.Context, key string, got *answer[V]) {
	content, err := json.Marshal(record[V]{Asked: got.asked.UTC(), Value: got.value})
	got.cost = hosts.DecodedBytes(content)
	if err == nil && !a.memory && len(content) <= recordBytes { // larger ones are refused when they are read
		_, err = a.server.bucket.Put(ctx, key, blob.Bytes(content), blob.PutOptions{ContentType: "application/json", Private: a.secret})
	}
	if err != nil {
		a.server.notStored("key", key, err)
	}
}

// forget makes the next caller ask again, also if a request runs: it may have begun before what the caller wants to see.
func (a *answers[V]) forget(key string) {
	a.recent.Forget(key)
	a.calls.Renew(key)
}

// overhead is the memory that an answer takes beside its value: the key, and its places in the map and in the list.
const overhead = 512

// remember keeps an answer in memory.
func (a *answers[V]) remember(key string, got *answer[V]) *answer[V] {
	a.recent.Put(key, got, got.cost/2+overhead) // the other half is garbage of decoding
	return got
}

// document is a response body, ready to be sent.
type document struct {
	variant string // which of the documents that can be made of one answer
	body    []byte // nil: it is packed
	packed  []byte // with gzip, which nearly all clients accept; nil: it isn't worth it
	size    int64  // unpacked
	tag     string // for the ETag header, without quotes
}

func newDocument(variant string, body []byte) *document {
	sum := sha256.Sum256(body)
	return &document{variant: variant, body: body, tag: hex.EncodeToString(sum[:16])}
}

// pack packs a document that is kept, if it is large.
func (d *document) pack() {
	if len(d.body) < packedFrom {
		return
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(d.body) // writing to memory never fails
	w.Close()
	d.packed, d.size, d.body = b.Bytes(), int64(len(d.body)), nil
}

// open returns a reader of the unpacked document. It unpacks while it is read,
// because unpacking all of it for each request would take much memory.
func (d *document) open() io.ReadSeeker {
	if d.packed == nil {
		return bytes.NewReader(d.body)
	}
	return io.NewSectionReader(&unpacking{packed: d.packed}, 0, d.size)
}

// unpacking reads a packed document.
type unpacking struct {
	packed  []byte
	at      int64     // the offset of content
	content io.Reader // nil: not open
}

// ReadAt implements io.ReaderAt for a SectionReader, which accepts short reads.
func (u *unpacking) ReadAt(p []byte, at int64) (int, error) {
	if u.content == nil || u.at != at {
		content, err := gzip.NewReader(bytes.NewReader(u.packed))
		if err == nil {
			_, err = io.CopyN(io.Discard, content, at)
		}
		if err != nil {
			return 0, err
		}
		u.content, u.at = content, at
	}
	n, err := u.content.Read(p)
	u.at += int64(n)
	return n, err
}

// packedFrom is the size from which documents are packed: the list of a
// large provider's versions with all platforms has half a megabyte.
const packedFrom = 4 << 10
