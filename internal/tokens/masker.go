package tokens

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// Masker replaces secrets by tokens, in data that is saved and passed on. Equal secrets get equal tokens, so that a comparison of masked
// values has the same result as a comparison of the values. The key of the tokens is random and is never stored: an attacker who guesses a
// secret cannot check the guess against the token. A Masker is safe for concurrent use.
//
// A Masker replaces what secret.Place and secret.Known call secret. A token is itself secret wherever it appears, so a report on masked
// data hides what a report on the data hides.
type Masker struct {
	key []byte
	// members finds the values of Secrets anywhere in a text. given finds everything that is known to be secret.
	members, given *secret.Needles
	// known has the texts of both.
	known map[string]bool
	// texts are the texts that are secret if a value of a release consists of them.
	texts map[string]bool
	// values is set for the values of a release: a template may put any of them at a place whose name announces a secret.
	values bool
	// missed is set if an interrupt left a text unread that may hold secrets. Text replaces every text whole then.
	missed bool
}

// NewMasker returns a masker of everything that is known now. The texts of public, such as the names of objects, stay readable even if a
// Secret contains them.
func NewMasker(known *secret.Known, public []string) *Masker {
	m := &Masker{key: make([]byte, sha256.Size), known: map[string]bool{}, texts: map[string]bool{}}
	_, _ = rand.Read(m.key) // it never returns an error
	members, texts := known.Forms()
	m.missed = known.Missed()
	isPublic := func(text string) bool {
		return slices.ContainsFunc(public, func(name string) bool { return strings.Contains(name, text) })
	}
	maps.DeleteFunc(members, func(form string, _ bool) bool { return isPublic(form) })
	maps.Copy(m.known, members)
	for form, anywhere := range texts {
		if isPublic(form) {
			continue
		}
		m.texts[form] = true
		if anywhere {
			m.known[form] = true
		}
	}
	m.members, m.given = secret.NewNeedles(members), secret.NewNeedles(m.known)
	return m
}

// replace returns a text with known secrets replaced by their tokens. The base64 form of a secret becomes the base64 form of its token.
func (m *Masker) replace(text string) string {
	return m.members.Replace(text, func(part string) string { return m.form(part, m.known) })
}

// form returns the token of a text, or the base64 form of a token if the text is the base64 form of a known secret.
func (m *Masker) form(text string, known map[string]bool) string {
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && known[strings.TrimSpace(string(raw))] {
		return m.base64(text)
	}
	return m.Token(text)
}

// Object returns a copy of an object with its secrets replaced. Kind is the kind that was asked for. Field sets of managedFields name list
// items by their values, so Object replaces secrets in them too.
func (m *Masker) Object(group, kind string, object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	if own, _ := object["kind"].(string); secret.Kind("", own) {
		group, kind = "", own
	}
	if items, isList := object["items"].([]any); isList && strings.HasSuffix(kind, "List") {
		return m.list(group, strings.TrimSuffix(kind, "List"), object, items)
	}
	root := secret.Root(group, kind)
	out := m.fields(root, object)
	m.managedFields(root, object, out)
	keep(out, object, "apiVersion", "kind")
	if metadata, ok := out["metadata"].(map[string]any); ok {
		keep(metadata, object["metadata"].(map[string]any), "name", "namespace", "generateName", "uid", "resourceVersion")
	}
	m.statusHashes(out)
	return out
}

// keep restores fields that reports always show: the name of a role may look like an assignment (reader:token:x).
func keep(masked, original map[string]any, names ...string) {
	for _, name := range names {
		if v, has := original[name]; has {
			masked[name] = v
		}
	}
}

// list returns a copy of a list of objects. The items of some lists do not name their kind.
func (m *Masker) list(group, kind string, list map[string]any, items []any) map[string]any {
	out := map[string]any{}
	for name, v := range list {
		out[name] = m.value(secret.Place{}, v)
	}
	masked := make([]any, len(items))
	for i, item := range items {
		masked[i] = m.value(secret.Place{}, item)
		if object, ok := item.(map[string]any); ok {
			masked[i] = m.Item(group, kind, object)
		}
	}
	out["items"] = masked
	return out
}

// Value returns a copy of a value that is not an object, with its secrets replaced.
func (m *Masker) Value(v any) any { return m.value(secret.Place{}, v) }

// Given returns a copy of the values of a release. Beyond what Value replaces, it replaces every value that is known to be secret.
func (m *Masker) Given(v any) any {
	given := *m
	given.members, given.values = m.given, true
	return given.value(secret.Place{}, v)
}

// Text returns a text with its secrets replaced.
func (m *Masker) Text(text string) string {
	if m.missed {
		return m.Token(text)
	}
	if m.isBroken(text) {
		return m.base64(text)
	}
	return secret.Replace(m.replace(text), m.Token)
}

// value returns a copy of a value at a place. It goes the same way as secret.Place.Each, which visits what is secret.
func (m *Masker) value(p secret.Place, v any) any {
	switch v := v.(type) {
	case map[string]any:
		return m.fields(p, v)
	case []any:
		return m.items(p, v)
	case string:
		return m.text(p, v)
	case nil, bool:
		return v
	}
	if p.Announced() {
		return m.number(v)
	}
	return v
}

// fields returns a copy of a map. The data of a Secret is base64, and stringData is not: equal values get equal tokens in both.
func (m *Masker) fields(p secret.Place, in map[string]any) map[string]any {
	p = p.InMap(in)
	out := make(map[string]any, len(in))
	for name, below := range in {
		data, isMap := below.(map[string]any)
		if p.IsSecretRoot() && name == "data" && isMap {
			out[name] = m.data(p.Field(name), data)
		} else {
			out[m.name(name)] = m.value(p.FieldIn(in, name), below)
		}
	}
	return out
}

// data returns a copy of the data of a Secret.
func (m *Masker) data(p secret.Place, in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for name, v := range in {
		if text, ok := v.(string); ok {
			out[m.name(name)] = m.base64(text)
		} else {
			out[m.name(name)] = m.value(p.Field(name), v)
		}
	}
	return out
}

// items returns a copy of a list. Its texts may be the arguments of a command.
func (m *Masker) items(p secret.Place, in []any) []any {
	out := make([]any, len(in))
	for i, offset := range p.Arguments(in) {
		if offset >= 0 && !p.Announced() {
			text, _ := in[i].(string)
			out[i] = text[:offset] + m.Token(text[offset:])
		} else {
			out[i] = m.value(p.Item(""), in[i])
		}
	}
	return out
}

// isBroken reports whether a text is the base64 form of a known secret, broken into lines. The API server returns such a text in one line,
// and both must get the same token.
func (m *Masker) isBroken(text string) bool {
	if !strings.ContainsAny(strings.TrimSpace(text), "\r\n") {
		return false
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	return err == nil && m.members.Holds(base64.StdEncoding.EncodeToString(raw))
}

// text returns a text at a place with its secrets replaced.
func (m *Masker) text(p secret.Place, text string) string {
	switch {
	case p.Whole(text):
		return m.Token(text)
	case p.Announced():
		return text
	case m.values && m.texts[strings.TrimSpace(text)]:
		return m.form(text, m.texts)
	}
	return m.Text(text)
}

// name returns a key of a map with the values of Secrets replaced.
func (m *Masker) name(name string) string {
	if !secret.MayBeValue(name) {
		return name
	}
	return m.replace(name)
}

// Token returns the token for a text that is secret as a whole. Blanks around the text stay: templates trim and indent values.
func (m *Masker) Token(text string) string {
	inner := strings.TrimSpace(text)
	if inner == "" || secret.IsToken(inner) {
		return text
	}
	return strings.Replace(text, inner, secret.Token(m.sum(inner)), 1)
}

// base64 returns the base64 form of the token of what a text encodes. Line breaks in and around the text stay, because the API server keeps
// them. A text that is not base64 gets a token, which is not base64 either.
func (m *Masker) base64(text string) string {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return m.Token(text)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(m.Token(string(raw))))
	inner := strings.TrimSpace(text)
	if strings.ContainsAny(inner, "\r\n") {
		encoded = encoded[:4] + "\n" + encoded[4:]
	}
	return strings.Replace(text, inner, encoded, 1)
}

// number returns a number that stands for another one.
func (m *Masker) number(v any) any {
	n := int64(binary.BigEndian.Uint32(m.sum(fmt.Sprint(v)))>>1 | 1<<24)
	if _, isFloat := v.(float64); isFloat {
		return float64(n)
	}
	return n
}

func (m *Masker) sum(text string) []byte {
	h := hmac.New(sha256.New, m.key)
	_, _ = h.Write([]byte(text)) // it never returns an error
	return h.Sum(nil)
}

// managedFields replaces the secrets in the field sets of an object's managedFields, in its copy.
func (m *Masker) managedFields(root secret.Place, object, masked map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	copied, _ := masked["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	if copied == nil || len(entries) == 0 {
		return
	}
	out := make([]any, len(entries))
	for i, e := range entries {
		out[i] = m.value(secret.Place{}, e)
		entry, _ := e.(map[string]any)
		if set, ok := entry["fieldsV1"].(map[string]any); ok {
			out[i].(map[string]any)["fieldsV1"] = m.fieldSet(root, set)
		}
	}
	copied["managedFields"] = out
}

// fieldSet returns a copy of a field set. Its keys are f:NAME, k:KEYS of a list item, v:VALUE of a set, and a dot for the value itself.
func (m *Masker) fieldSet(p secret.Place, set map[string]any) map[string]any {
	out := make(map[string]any, len(set))
	for key, v := range set {
		place, shown := p, key
		switch form, rest, _ := strings.Cut(key, ":"); form {
		case "f":
			place, shown = p.Field(rest), "f:"+m.name(rest)
		case "k", "v":
			place, shown = m.itemKey(p, form, rest)
		}
		if below, ok := v.(map[string]any); ok {
			out[shown] = m.fieldSet(place, below)
		} else {
			out[shown] = v
		}
	}
	return out
}

// itemKey returns the place of a list item that a field set names, and its key with the secrets replaced.
func (m *Masker) itemKey(p secret.Place, form, text string) (place secret.Place, key string) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return p.Item(""), form + ":" + m.Token(text)
	}
	place = p.Item(secret.ItemName(v))
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(m.value(place, v)) // it never returns an error for what was decoded
	return place, form + ":" + strings.TrimSuffix(b.String(), "\n")
}
