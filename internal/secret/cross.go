package secret

import (
	"bytes"
	"encoding/gob"
)

// crossing is a Known for the pipe between two processes of ours; it goes nowhere else.
type crossing struct{ Texts, Members map[string]bool }

// GobEncode writes what is known now.
func (k *Known) GobEncode() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.settle()
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(crossing{k.texts, k.members})
	return b.Bytes(), err
}

// GobDecode adds what another Known wrote.
func (k *Known) GobDecode(text []byte) error {
	var c crossing
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&c); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.take(c)
	return nil
}

// AddKnown adds what another Known knows now.
func (k *Known) AddKnown(other *Known) {
	if k == nil || other == nil || k == other {
		return
	}
	other.mu.Lock()
	other.settle()
	c := crossing{other.texts, other.members}
	k.mu.Lock()
	k.take(c)
	k.mu.Unlock()
	other.mu.Unlock()
}

// take adds texts and members in the forms that they have. The lock is held.
func (k *Known) take(c crossing) {
	for form, wherever := range c.Texts {
		k.addForm(form)
		if _, added := k.texts[form]; added {
			k.texts[form] = k.texts[form] || wherever
		}
	}
	for form := range c.Members {
		if k.members == nil {
			k.members = map[string]bool{}
		}
		k.members[form] = true
	}
}
