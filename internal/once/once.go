// Package once finds out each answer once, for several goroutines that ask at the same time.
package once

import "sync"

// Map keeps one answer for each key. The zero value is empty and ready for use.
type Map[K comparable, V any] struct {
	answers sync.Map // of functions that find out their answer once
}

// Get returns the answer for a key. The first caller finds it out, and the others wait. An error is kept like an answer.
func (m *Map[K, V]) Get(key K, find func() (V, error)) (V, error) {
	answer, _ := m.answers.LoadOrStore(key, sync.OnceValues(find))
	return answer.(func() (V, error))()
}
