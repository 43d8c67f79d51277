package once

import "sync"

// Attempts is how often a Retry tries to read something. After that, callers get the last answer.
const Attempts = 3

// Retry holds the values of keys. The first caller that needs a value reads it, and the others wait. If the value could not be read, a
// later caller reads it again, Attempts times in all. The zero value is empty and ready for use.
type Retry[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]*reading[V]
}

// reading is one attempt to read a value.
type reading[V any] struct {
	get     func() (value V, read bool)
	attempt int
}

// Get returns the value of a key. Read reports whether it could read the value.
func (r *Retry[K, V]) Get(key K, read func() (value V, read bool)) V {
	r.mu.Lock()
	if r.values == nil {
		r.values = map[K]*reading[V]{}
	}
	last := r.values[key]
	if last == nil {
		last = &reading[V]{get: sync.OnceValues(read), attempt: 1}
		r.values[key] = last
	}
	r.mu.Unlock()
	value, ok := last.get()
	if !ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.values[key] == last && last.attempt < Attempts {
			r.values[key] = &reading[V]{get: sync.OnceValues(read), attempt: last.attempt + 1}
		}
	}
	return value
}
