package secret

import (
	"bytes"
	"encoding/gob"
)

// knownForms is the content of a Known, for the pipe between two processes of this program. It must not be sent
// anywhere else.
type knownForms struct{ Texts, Members map[string]bool }

// GobEncode encodes what is known now.
func (k *Known) GobEncode() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.update()
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(knownForms{k.texts, k.members})
	return b.Bytes(), err
}

// GobDecode adds what another Known encoded.
func (k *Known) GobDecode(text []byte) error {
	var c knownForms
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&c); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.addForms(c)
	return nil
}

// AddKnown adds what another Known knows now.
func (k *Known) AddKnown(other *Known) {
	if k == nil || other == nil || k == other {
		return
	}
	other.mu.Lock()
	other.update()
	c := knownForms{other.texts, other.members}
	k.mu.Lock()
	k.addForms(c)
	k.mu.Unlock()
	other.mu.Unlock()
}

// addForms adds texts and members in the forms that another Known has. The caller holds the lock.
func (k *Known) addForms(c knownForms) {
	for form, wherever := range c.Texts {
		k.addForm(form)
		if _, added := k.texts[form]; added {
			k.texts[form], k.inTexts = k.texts[form] || wherever, nil
		}
	}
	for form := range c.Members {
		if k.members == nil {
			k.members = map[string]bool{}
		}
		k.members[form], k.inMembers = true, nil
	}
}
