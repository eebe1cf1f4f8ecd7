package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// writers is the number of concurrent writers.
const writers = 6

func oneWriterWins(t *testing.T, b blob.Bucket) {
	names := []string{}
	for i := range writers {
		names = append(names, "writer "+strconv.Itoa(i))
	}
	_, errs := par.Map(t.Context(), writers, names, func(ctx context.Context, name string) (blob.Info, error) {
		return b.Put(ctx, "key", blob.Bytes([]byte(name)), blob.PutOptions{IfAbsent: true})
	})
	won := ""
	for i, err := range errs {
		switch {
		case err == nil && won != "":
			t.Errorf("%s and %s both won", won, names[i])
		case err == nil:
			won = names[i]
		default:
			fails(t, names[i], err, blob.ErrExists)
		}
	}
	want(t, b, "key", blob.GetOptions{}, won)
}

// losesNoUpdate lets many writers increment a counter.
func losesNoUpdate(t *testing.T, b blob.Bucket) {
	const times, attempts = 3, 500
	put(t, b, "count", "0")
	_, errs := par.Map(t.Context(), writers, make([]struct{}, writers), func(ctx context.Context, _ struct{}) (struct{}, error) {
		for range times {
			done := false
			for range attempts {
				text, info, err := blob.ReadAll(ctx, b, "count", 100)
				if err != nil {
					return struct{}{}, err
				}
				n, err := strconv.Atoi(string(text))
				if err != nil {
					return struct{}{}, err
				}
				_, err = b.Put(ctx, "count", blob.Bytes([]byte(strconv.Itoa(n+1))), blob.PutOptions{IfMatch: info.Tag})
				if done = err == nil; done {
					break
				}
				if !errors.Is(err, blob.ErrChanged) {
					return struct{}{}, err
				}
			}
			if !done {
				return struct{}{}, errors.New("every attempt met another one's")
			}
		}
		return struct{}{}, nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	want(t, b, "count", blob.GetOptions{}, strconv.Itoa(writers*times))
}

func showsWholeObjects(t *testing.T, b blob.Bucket) {
	const times, size = 8, 200_000
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%26)}, size+i) }
	if _, err := b.Put(t.Context(), "key", blob.Bytes(content(0)), blob.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	err := par.Together(t.Context(),
		func(ctx context.Context) error {
			for i := range times {
				if _, err := b.Put(ctx, "key", blob.Bytes(content(i)), blob.PutOptions{}); err != nil {
					return err
				}
			}
			return nil
		},
		func(ctx context.Context) error {
			for range times {
				got, info, err := blob.ReadAll(ctx, b, "key", size+times)
				if err != nil {
					return err
				}
				if i := len(got) - size; i < 0 || !bytes.Equal(got, content(i)) || info.Size != int64(len(got)) {
					return fmt.Errorf("of %+v it read %d bytes, from %q to %q", info, len(got), got[:1], got[len(got)-1:])
				}
			}
			return nil
		})
	if err != nil {
		t.Error(err)
	}
}
