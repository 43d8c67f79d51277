package secret

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"maps"
	"strings"
)

// A Known reads its sources when a text needs them. This file has the sources, and how they cross the pipe between two processes of this
// program.

// source is where secrets come from. Its exported fields cross.
type source struct {
	How how
	// Group and Kind are those of an object.
	Group, Kind string
	// value is what to read; JSON takes its place after it has crossed.
	value any
	JSON  []byte
	find  func() *Known
}

// how says how a source is read.
type how int

const (
	fromObject how = iota
	fromNames
	fromValues
	fromText
	fromKnown
)

// addTo adds the secrets of the source. The caller holds the lock of k.
func (s source) addTo(k *Known) {
	values := []any{s.value}
	if s.JSON != nil { // a text may have a number in one form or the other
		values = []any{decoded(s.JSON, false), decoded(s.JSON, true)}
	}
	for _, value := range values {
		switch s.How {
		case fromObject:
			Root(s.Group, s.Kind).eachSecret(value, k.add, k.miss)
		case fromValues:
			Place{form: hidden}.Each(value, func(text string) {
				if len(text) >= shortestMember {
					k.add(text)
				}
			})
			fallthrough
		case fromNames:
			Place{}.eachSecret(value, k.add, k.miss)
		case fromText:
			text, _ := value.(string)
			k.add(text)
			text = strings.TrimSpace(text) // as the forms are
			if _, added := k.texts[text]; added && len(text) >= shortestWord {
				k.texts[text] = true
			}
		case fromKnown:
			k.addForms(s.find().forms())
		}
	}
}

// decoded returns the value of a text that json.Marshal wrote. With exact, its numbers are as they are written there.
func decoded(text []byte, exact bool) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	if exact {
		d.UseNumber()
	}
	_ = d.Decode(&v)
	return v
}

// AddLater adds the secrets of another Known. It calls find for it when a text is first searched. The source does not cross to another
// process.
func (k *Known) AddLater(find func() *Known) { k.postpone(source{How: fromKnown, find: find}) }

// knownForms is the content of a Known, for the pipe between two processes of this program. It must not be sent anywhere else.
type knownForms struct {
	Texts, Members map[string]bool
	Missed         bool
	Unread         []source
}

// GobEncode encodes what is known now. Sources that were not read cross as they are.
func (k *Known) GobEncode() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out knownForms
	for _, s := range k.pending {
		var err error
		if s.JSON == nil {
			s.JSON, err = json.Marshal(s.value)
		}
		if err != nil { // it has a number that JSON lacks
			k.read()
			out.Unread = nil
			break
		}
		if s.How != fromKnown {
			out.Unread = append(out.Unread, s)
		}
	}
	out.Texts, out.Members, out.Missed = k.texts, k.members, k.missed
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(out)
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
	c := other.forms()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.addForms(c)
}

// forms returns what is known now.
func (k *Known) forms() knownForms {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read()
	return knownForms{Texts: maps.Clone(k.texts), Members: maps.Clone(k.members), Missed: k.missed}
}

// Forms returns what is known now, in every form that a text may quote: the values of Secrets that are secret wherever they appear, and all
// texts that are secret as words. The value of a text is true if it is removed even from the middle of a word.
func (k *Known) Forms() (members, texts map[string]bool) {
	known := k.forms()
	maps.DeleteFunc(known.Texts, func(form string, _ bool) bool { return len(form) < shortestWord })
	return known.Members, known.Texts
}

// addForms adds what another Known has. The caller holds the lock.
func (k *Known) addForms(c knownForms) {
	k.pending, k.missed = append(k.pending, c.Unread...), k.missed || c.Missed
	for form, inside := range c.Texts {
		k.addForm(form, inside)
	}
	for form := range c.Members {
		if k.members == nil {
			k.members = map[string]bool{}
		}
		k.members[form], k.inMembers = true, nil
	}
}
