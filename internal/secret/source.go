package secret

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"maps"
)

// A Known reads its sources when a text needs them. This file has the sources, and how they cross the pipe between two processes of this
// program.

// source is where secrets come from.
type source struct {
	how how
	// group and kind are those of an object.
	group, kind string
	// value is what to read. If it is nil, find returns it, or a *Known.
	value any
	find  func() any
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
	if s.value == nil && s.find != nil {
		s.value = s.find()
	}
	switch s.how {
	case fromObject:
		Root(s.group, s.kind).Each(s.value, k.add)
	case fromValues:
		Hidden().Each(s.value, func(text string) {
			if len(text) >= shortestMember {
				k.add(text)
			}
		})
		Place{}.Each(s.value, k.add)
	case fromNames:
		Place{}.Each(s.value, k.add)
	case fromText:
		text, _ := s.value.(string)
		k.add(text)
		if _, added := k.texts[text]; added && len(text) >= shortestWord {
			k.texts[text] = true
		}
	case fromKnown:
		other, _ := s.value.(*Known)
		k.addForms(other.forms())
	}
}

// AddLater adds what another Known knows, which find returns when that is needed. It does not cross to another process.
func (k *Known) AddLater(find func() *Known) {
	k.postpone(source{how: fromKnown, find: func() any { return find() }})
}

// knownForms is the content of a Known, for the pipe between two processes of this program. It must not be sent anywhere else.
type knownForms struct {
	Texts, Members map[string]bool
	Unread         []unread
}

// unread is a source that was not read, with its value as JSON.
type unread struct {
	How         how
	Group, Kind string
	JSON        []byte
}

// GobEncode encodes what is known now. Sources that were not read cross as they are.
func (k *Known) GobEncode() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []unread
	for _, s := range k.pending {
		if s.how == fromKnown {
			continue
		}
		if s.value == nil && s.find != nil {
			s.value = s.find()
		}
		text, err := json.Marshal(s.value)
		if err != nil { // it has a number that JSON lacks
			k.update()
			all = nil
			break
		}
		all = append(all, unread{s.how, s.group, s.kind, text})
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(knownForms{k.texts, k.members, all})
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
	for _, s := range k.pending {
		s.addTo(k)
	}
	k.pending = nil
	return knownForms{Texts: maps.Clone(k.texts), Members: maps.Clone(k.members)}
}

// addForms adds what another Known has. A number of an unread source is read in both forms that a text may have. The caller holds the lock.
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
	for _, u := range c.Unread {
		for _, isExact := range []bool{false, true} {
			k.pending = append(k.pending, source{how: u.How, group: u.Group, kind: u.Kind, find: func() (v any) {
				d := json.NewDecoder(bytes.NewReader(u.JSON))
				if isExact {
					d.UseNumber()
				}
				_ = d.Decode(&v) // it is what json.Marshal wrote
				return v
			}})
		}
	}
}
