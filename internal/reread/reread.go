// Package reread reads for many releases, at the same time. It keeps what was read, and reads again what could not be read.
package reread

import "sync"

// Attempts is how often a Map tries to read something. After that, callers get the last answer.
const Attempts = 3

// Map holds the values of keys. The first caller that needs a value reads it, and the others wait. If the value could not be read, a
// later caller reads it again, Attempts times in all. The zero value is empty and ready for use.
type Map[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]*reading[V]
}

// reading is one attempt to read a value.
type reading[V any] struct {
	get     func() (value V, read bool)
	attempt int
}

// Get returns the value of a key. Read reports whether it could read the value.
func (m *Map[K, V]) Get(key K, read func() (value V, read bool)) V {
	m.mu.Lock()
	if m.values == nil {
		m.values = map[K]*reading[V]{}
	}
	last := m.values[key]
	if last == nil {
		last = &reading[V]{get: sync.OnceValues(read), attempt: 1}
		m.values[key] = last
	}
	m.mu.Unlock()
	value, ok := last.get()
	if !ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.values[key] == last && last.attempt < Attempts {
			m.values[key] = &reading[V]{get: sync.OnceValues(read), attempt: last.attempt + 1}
		}
	}
	return value
}
