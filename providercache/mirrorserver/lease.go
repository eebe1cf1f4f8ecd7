package mirrorserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tfdeps/tfdeps/providercache/blob"
)

// leaseRecord is an object that says until when one server of the bucket does something that the others leave to it.
type leaseRecord struct {
	Until time.Time `json:"until"`
}

// lease takes a lease, if no server has it. A server that dies has it until it expires. What it returns gives it back.
func (s *Server) lease(ctx context.Context, key string, length time.Duration) (release func(), held bool, err error) {
	opts := blob.PutOptions{IfAbsent: true}
	content, info, err := blob.ReadAll(ctx, s.bucket, key, 1<<10)
	if err == nil {
		var record leaseRecord
		if json.Unmarshal(content, &record) == nil && s.fetcher.Now().Before(record.Until) {
			return nil, false, nil
		}
		opts = blob.PutOptions{IfMatch: info.Tag}
	} else if !errors.Is(err, blob.ErrNotFound) {
		return nil, false, err
	}
	content, err = json.Marshal(leaseRecord{s.fetcher.Now().Add(length).UTC()})
	if err != nil {
		return nil, false, err
	}
	info, err = s.bucket.Put(ctx, key, blob.Bytes(content), opts)
	if errors.Is(err, blob.ErrExists) || errors.Is(err, blob.ErrChanged) { // another server was faster
		return nil, false, nil
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTimeout)
		defer cancel()
		s.bucket.Put(ctx, key, blob.Bytes([]byte("{}")), blob.PutOptions{IfMatch: info.Tag}) // else it expires
	}, err == nil, err
}
