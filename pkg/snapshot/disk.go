package snapshot

import (
	"bytes"
	"fmt"

	"github.com/helmdrift/helmdrift/internal/files"
)

// WriteFile writes the snapshot to a file that only the user can read. The file appears only when it is complete and has been read back.
func (s *Snapshot) WriteFile(name string) error {
	var packed bytes.Buffer
	if err := s.Write(&packed); err != nil {
		return err
	}
	if _, err := Read(bytes.NewReader(packed.Bytes())); err != nil {
		return fmt.Errorf("the snapshot could not be read back: %w", err)
	}
	return files.Replace(name, packed.Bytes(), 0o600)
}

// Summary says in one line what is in the snapshot.
func (s *Snapshot) Summary() string {
	unread := 0
	for _, o := range s.Objects {
		if o.Error != nil {
			unread++
		}
	}
	text := fmt.Sprintf("release %s in %s, %d objects", s.Release, s.Namespace, len(s.Objects))
	if unread > 0 {
		text += fmt.Sprintf(", %d could not be read", unread)
	}
	if s.Masked {
		return text + "; secrets are masked"
	}
	return text + "; it holds secrets in clear"
}
