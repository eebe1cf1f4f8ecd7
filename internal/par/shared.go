package par

import "sync"

// Shared has a value for each key while there are users of it. The zero Shared has none; it is safe
// for many goroutines.
type Shared[K comparable, V any] struct {
	mu    sync.Mutex
	byKey map[K]*Share[V]
}

// Share is a value with its users.
type Share[V any] struct {
	Value V
	users int // guarded by Shared.mu
}

// Join adds a user to the value of a key, which is made if there is none: made says so.
func (s *Shared[K, V]) Join(key K, make func() V) (share *Share[V], made bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share, ok := s.byKey[key]
	if !ok {
		share = &Share[V]{Value: make()}
		if s.byKey == nil {
			s.byKey = map[K]*Share[V]{}
		}
		s.byKey[key] = share
	}
	share.users++
	return share, !ok
}

// Withdraw has the next Join make another value, while this one keeps its users.
func (s *Shared[K, V]) Withdraw(key K, share *Share[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[key] == share {
		delete(s.byKey, key)
	}
}

// Leave takes a user away, and the value with its last user, which it reports.
func (s *Shared[K, V]) Leave(key K, share *Share[V]) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share.users--
	if last = share.users == 0; last && s.byKey[key] == share {
		delete(s.byKey, key)
	}
	return last
}

// Has reports whether there is a value for a key.
func (s *Shared[K, V]) Has(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.byKey[key]
	return ok
}

// All returns the values that there are.
func (s *Shared[K, V]) All() map[K]V {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[K]V, len(s.byKey))
	for key, share := range s.byKey {
		all[key] = share.Value
	}
	return all
}
