package drift

import "github.com/helmdrift/helmdrift/internal/secret"

// Secrets holds the known secrets. Its zero value knows none. It is safe for concurrent use.
type Secrets secret.Known

// Add adds texts that are secret.
func (s *Secrets) Add(texts ...string) { s.known().Add(texts...) }

// Scrub returns a text without the secrets that are known now.
func (s *Secrets) Scrub(text string) string { return s.known().Scrub(text) }

// GobEncode implements gob.GobEncoder, for a request that another process answers.
func (s *Secrets) GobEncode() ([]byte, error) { return s.known().GobEncode() }

// GobDecode implements gob.GobDecoder.
func (s *Secrets) GobDecode(text []byte) error { return s.known().GobDecode(text) }

// known returns s with its type in the rest of this module.
func (s *Secrets) known() *secret.Known { return (*secret.Known)(s) }

// learns returns a function that adds a Secret to the known secrets.
func learns(known *secret.Known) func(map[string]any) {
	return func(s map[string]any) { known.AddObject("", "Secret", s) }
}
