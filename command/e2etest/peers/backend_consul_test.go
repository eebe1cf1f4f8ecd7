package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// consul stands for a Consul agent: keys with values, and sessions that hold
// some of them. Debian has no package of the real one any more.
type consul struct {
	*httptest.Server
	mu       sync.Mutex
	index    uint64
	keys     map[string]*consulKey
	sessions int
}

// consulKey is a key as the agent describes it.
type consulKey struct {
	Key                                 string
	Value                               []byte
	Flags                               uint64
	CreateIndex, ModifyIndex, LockIndex uint64
	Session                             string `json:",omitempty"`
}

// consulToken is what every request has to carry.
const consulToken = "secret"

func newConsul(t *testing.T) *consul {
	t.Helper()
	c := &consul{index: 1, keys: map[string]*consulKey{}}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *consul) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("X-Consul-Token") != consulToken {
		http.Error(w, "ACL not found", http.StatusForbidden)
		return
	}
	key, isKey := strings.CutPrefix(r.URL.Path, "/v1/kv/")
	if isKey && r.Method == http.MethodGet {
		c.awaitChange(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/v1/session/create":
		c.sessions++
		fmt.Fprintf(w, `{"ID": "s-%d"}`, c.sessions)
	case strings.HasPrefix(r.URL.Path, "/v1/session/destroy/"):
		c.release(strings.TrimPrefix(r.URL.Path, "/v1/session/destroy/"))
		fmt.Fprint(w, "true")
	case strings.HasPrefix(r.URL.Path, "/v1/session/"): // renewal
		fmt.Fprint(w, `[{"ID": "s-1", "TTL": "15s"}]`)
	case r.URL.Path == "/v1/txn":
		c.transact(w, body)
	case !isKey:
		http.NotFound(w, r)
	case r.Method == http.MethodGet:
		c.get(w, r, key)
	case r.Method == http.MethodPut:
		fmt.Fprint(w, c.put(r, key, body))
	case r.Method == http.MethodDelete:
		delete(c.keys, key)
		c.index++
		fmt.Fprint(w, "true")
	}
}

// awaitChange delays the answer to a request for what comes after an index.
func (c *consul) awaitChange(r *http.Request) {
	after, err := strconv.ParseUint(r.URL.Query().Get("index"), 10, 64)
	for range 50 {
		c.mu.Lock()
		changed := c.index > after
		c.mu.Unlock()
		if err != nil || changed || r.Context().Err() != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (c *consul) get(w http.ResponseWriter, r *http.Request, key string) {
	w.Header().Set("X-Consul-Index", fmt.Sprint(c.index))
	w.Header().Set("X-Consul-KnownLeader", "true")
	w.Header().Set("X-Consul-LastContact", "0")
	found := c.keys[key]
	if found == nil || r.URL.Query().Has("keys") {
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode([]*consulKey{found})
}

// put sets a key; a session takes it or gives it back.
func (c *consul) put(r *http.Request, key string, value []byte) bool {
	query := r.URL.Query()
	known := c.keys[key]
	taker := query.Get("acquire")
	if taker != "" && known != nil && known.Session != "" && known.Session != taker {
		return false
	}
	c.set(key, value)
	c.keys[key].Flags, _ = strconv.ParseUint(query.Get("flags"), 10, 64)
	switch {
	case taker != "":
		c.keys[key].Session = taker
		c.keys[key].LockIndex++
	case query.Has("release"):
		c.keys[key].Session = ""
	}
	return true
}

func (c *consul) set(key string, value []byte) {
	c.index++
	if c.keys[key] == nil {
		c.keys[key] = &consulKey{Key: key, CreateIndex: c.index}
	}
	c.keys[key].Value, c.keys[key].ModifyIndex = value, c.index
}

func (c *consul) release(session string) {
	for _, key := range c.keys {
		if key.Session == session {
			key.Session = ""
			c.index++
		}
	}
}

// transact sets keys, each only if it is still what its writer last saw.
func (c *consul) transact(w http.ResponseWriter, body []byte) {
	var operations []struct {
		KV struct {
			Verb, Key string
			Value     []byte
			Index     uint64
		}
	}
	if err := json.Unmarshal(body, &operations); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	results := []map[string]*consulKey{}
	for _, op := range operations {
		known := c.keys[op.KV.Key]
		isStale := known == nil && op.KV.Index != 0 || known != nil && known.ModifyIndex != op.KV.Index
		switch {
		case op.KV.Verb == "cas" && isStale:
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"Results": null, "Errors": [{"OpIndex": 0, "What": "failed to set, index is stale"}]}`)
			return
		case op.KV.Verb == "cas", op.KV.Verb == "set":
			c.set(op.KV.Key, op.KV.Value)
			results = append(results, map[string]*consulKey{"KV": c.keys[op.KV.Key]})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"Results": results, "Errors": nil})
}

func (c *consul) content(key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys[key] == nil {
		return ""
	}
	return string(c.keys[key].Value)
}
