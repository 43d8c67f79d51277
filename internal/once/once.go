// Package once finds out each answer once, for several goroutines that ask at the same time.
package once

import "sync"

// Map keeps one answer for each key. The zero value is empty and ready for use.
type Map[K comparable, V any] struct {
	mu      sync.Mutex
	answers map[K]func() (V, error)
}

// Get returns the answer for a key. The first caller finds it out, and the others wait. An error is kept like an answer.
func (m *Map[K, V]) Get(key K, find func() (V, error)) (V, error) {
	m.mu.Lock()
	if m.answers == nil {
		m.answers = map[K]func() (V, error){}
	}
	answer := m.answers[key]
	if answer == nil {
		answer = sync.OnceValues(find)
		m.answers[key] = answer
	}
	m.mu.Unlock()
	return answer()
}
