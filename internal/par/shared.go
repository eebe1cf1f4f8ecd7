package par

import "sync"

// Shared holds a value for each key, as long as it has users. The zero Shared is empty. Many
// goroutines may use it.
type Shared[K comparable, V any] struct {
	mu    sync.Mutex
	byKey map[K]*Share[V]
}

// Share is a value with the number of its users.
type Share[V any] struct {
	Value V
	users int // guarded by Shared.mu
}

// Join adds a user to the value of a key. If the key has no value, Join makes it, and made is true.
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

// Withdraw removes a value from its key: the next Join makes another one, while this one keeps its
// users.
func (s *Shared[K, V]) Withdraw(key K, share *Share[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[key] == share {
		delete(s.byKey, key)
	}
}

// Leave removes a user, and with the last one the value. It reports whether it was the last one.
func (s *Shared[K, V]) Leave(key K, share *Share[V]) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share.users--
	if last = share.users == 0; last && s.byKey[key] == share {
		delete(s.byKey, key)
	}
	return last
}

// Has reports whether a key has a value.
func (s *Shared[K, V]) Has(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.byKey[key]
	return ok
}

// All returns all values.
func (s *Shared[K, V]) All() map[K]V {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[K]V, len(s.byKey))
	for key, share := range s.byKey {
		all[key] = share.Value
	}
	return all
}
