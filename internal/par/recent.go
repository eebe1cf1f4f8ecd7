package par

import (
	"container/list"
	"sync"
)

// Recent is an LRU cache with a budget, such as a number of bytes. Make one with [NewRecent]; many
// goroutines may use it.
type Recent[K comparable, V any] struct {
	mu     sync.Mutex
	budget int64
	spent  int64
	byKey  map[K]*list.Element // of order, whose values are *recent[K, V]
	order  *list.List          // most recently used first
}

type recent[K comparable, V any] struct {
	key   K
	value V
	cost  int64
}

// NewRecent returns a Recent with a budget. It keeps one value even if that costs more.
func NewRecent[K comparable, V any](budget int64) *Recent[K, V] {
	return &Recent[K, V]{budget: budget, byKey: map[K]*list.Element{}, order: list.New()}
}

// Get returns the cached value of a key.
func (r *Recent[K, V]) Get(key K) (value V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	element := r.byKey[key]
	if element == nil {
		return value, false
	}
	r.order.MoveToFront(element)
	return element.Value.(*recent[K, V]).value, true
}

// Put caches a value, and drops the least recently used ones that exceed the budget.
func (r *Recent[K, V]) Put(key K, value V, cost int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(r.byKey[key])
	r.byKey[key] = r.order.PushFront(&recent[K, V]{key, value, cost})
	r.spent += cost
	for r.spent > r.budget && r.order.Len() > 1 {
		r.drop(r.order.Back())
	}
}

// Forget drops the cached value of a key.
func (r *Recent[K, V]) Forget(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(r.byKey[key])
}

func (r *Recent[K, V]) drop(element *list.Element) {
	if element == nil {
		return
	}
	gone := r.order.Remove(element).(*recent[K, V])
	delete(r.byKey, gone.key)
	r.spent -= gone.cost
}
