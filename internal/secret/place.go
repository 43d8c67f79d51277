package secret

import (
	"fmt"
	"slices"
	"strings"
)

// Place is the place of a value in an object, as far as it decides whether the value is secret. The zero Place is the
// root of an object that is not a Secret. Field and Item make the place of a value, step by step on the way to it.
type Place struct {
	form form
	// plain is set for a field below an announced name that stays readable if it is a text itself.
	plain bool
	// digest is set for a checksum: charts restart pods with it, and controllers distinguish templates by it. Whoever knows the rest of
	// the hashed values can check guesses at a secret among them. A checksum is masked, but other texts may contain it.
	digest bool
	// step is set on the way to the annotations of a pod template. Digests there are masked under any name.
	step podStep
	// pair is set for an item of a list whose name announces a secret; the item's value is secret.
	pair bool
}

// form says why a value at a place is secret or not.
type form int

const (
	// readable is a place that nothing announces as secret.
	readable form = iota
	// reference is the place of a field that refers to a Secret. A map there may still contain secrets.
	reference
	// announced is a place at or below a name that announces a secret.
	announced
	// hidden is a place where everything is secret.
	hidden
	// secretRoot is the root of a Secret.
	secretRoot
	// schema describes values and contains none.
	schema
)

// Root returns the place of a whole object. Kind is the object's kind, or the kind that was asked for.
func Root(group, kind string) Place {
	switch {
	case Kind(group, kind):
		return Place{form: secretRoot}
	case group == "" && kind == "Pod":
		return Place{step: atPod}
	}
	return Place{}
}

// Kind reports whether objects of a kind are Secrets, or lists of Secrets.
func Kind(group, kind string) bool { return group == "" && (kind == "Secret" || kind == "SecretList") }

// Field returns the place of a field, or of a key of a map.
func (p Place) Field(name string) Place {
	// First, the places where the name of the field does not matter, or hardly.
	switch p.form {
	case hidden, schema:
		return p
	case secretRoot:
		if slices.Contains([]string{"apiVersion", "kind", "metadata", "type", "immutable"}, name) {
			return Place{}
		}
		return Place{form: hidden}
	case readable, reference, announced:
	}
	switch {
	case EmbedsObject(name):
		return Place{form: hidden}
	case name == "openAPIV3Schema":
		return Place{form: schema}
	case p.pair && name == "value":
		return Place{form: announced}
	case p.form == announced:
		return Place{form: announced, plain: readableBelow()[strings.ToLower(name)] || isAttribute(name)}
	case isDigestName(name):
		return Place{form: announced, digest: true}
	case Name(name):
		return Place{form: announced}
	case refersToSecret(name):
		return Place{form: reference}
	}
	return Place{step: p.step.field(name)}
}

// refersToSecret reports whether a name refers to a Secret: tlsSecret, imagePullSecrets.
func refersToSecret(name string) bool {
	last := lastWord(name)
	return (last == "secret" || last == "secrets" || referringWords()[last]) && !Name(name)
}

// isAttribute reports whether a name describes a secret or says where it is: secretKeyRef, tokenTTL.
func isAttribute(name string) bool {
	return slices.ContainsFunc(wordsOf(name), isAnnouncing) && !Name(name)
}

// Item returns the place of an item of a list. Name is the item's name field or key field, or "" if it has neither.
func (p Place) Item(name string) Place {
	p.pair = name != "" && isSecretHeader(name)
	return p
}

// Announced reports whether every text at the place is secret.
func (p Place) Announced() bool {
	return p.form == hidden || p.form == announced && !p.plain || p.form == secretRoot
}

// IsSecretRoot reports whether the place is the root of a Secret.
func (p Place) IsSecretRoot() bool { return p.form == secretRoot }

// Whole reports whether a text at the place is secret as a whole, because of its place or because it is a digest. At an announced place a
// text is secret as a whole or not at all.
func (p Place) Whole(text string) bool {
	if p.Announced() {
		return p.form != announced || !isHarmless(text)
	}
	return p.isDigest(text)
}

// Holds reports whether a value at the place must be masked, because it is a secret, contains one, or is the checksum of one.
func (p Place) Holds(v any) bool {
	found := false
	p.each(v, walk{visit: func(Place, string) { found = true }})
	return found
}

// Each visits the secrets in a value at the place.
func (p Place) Each(v any, visit func(text string)) { p.eachSecret(v, visit, nil) }

// eachSecret visits the secrets in a value. It calls missed, unless that is nil, for each text that an interrupt left unread.
func (p Place) eachSecret(v any, visit func(text string), missed func()) {
	p.each(v, walk{missed: missed, visit: func(at Place, text string) {
		if !at.digest {
			visit(text)
		}
	}})
}

// walk has the callbacks of a walk through a value.
type walk struct {
	visit func(at Place, text string)
	// missed, if it is not nil, is called for each text that an interrupt left unread.
	missed func()
	// within is the scan that found the value in a text, if one did. The work on the value counts as work of that scan.
	within *scan
}

// each visits all masked parts of a value, with their places.
func (p Place) each(v any, w walk) {
	switch v := v.(type) {
	case map[string]any:
		p = p.InMap(v)
		for name, below := range v {
			p.FieldIn(v, name).each(below, w)
		}
	case []any:
		p.eachInList(v, w)
	case string:
		p.eachInText(v, w)
	case nil, bool:
	default: // a number
		if p.Announced() {
			w.visit(p, fmt.Sprint(v))
		}
	}
}

// InMap returns the place of a map with what the map itself shows: it may be a Secret within another object, or an item with a name and a
// value, such as an environment variable.
func (p Place) InMap(m map[string]any) Place {
	_, hasValue := m["value"]
	switch {
	case p.form == reference:
		return Place{form: announced}
	case p.form == readable && m["kind"] == "Secret" && (m["data"] != nil || m["stringData"] != nil):
		return Place{form: secretRoot}
	case p.form == readable && hasValue && !p.pair:
		return p.Item(ItemName(m))
	}
	return p
}

// FieldIn returns the place of a field of a map, which is at the place that InMap returns.
func (p Place) FieldIn(m map[string]any, name string) Place {
	if _, isRemote := m["remoteRef"]; isRemote && name == "secretKey" { // external-secrets.io ExternalSecret spec.data
		return Place{}
	}
	return p.Field(name)
}

// ItemName returns the name of an item of a list, or else its key, or "" if it has neither.
func ItemName(item any) string {
	m, _ := item.(map[string]any)
	for _, field := range []string{"name", "key"} {
		if name, ok := m[field].(string); ok {
			return name
		}
	}
	return ""
}

// eachInList visits the masked parts of a list. Its texts may be the arguments of a command.
func (p Place) eachInList(list []any, w walk) {
	for _, item := range list {
		p.Item("").each(item, w)
	}
	for i, offset := range p.Arguments(list) {
		if offset >= 0 {
			text, _ := list[i].(string)
			w.visit(p, text[offset:])
		}
	}
}

// Arguments returns, for each item of a list at the place, the offset of a secret in it if the list is the arguments of a command, or -1.
func (p Place) Arguments(list []any) []int {
	if p.form == schema {
		return slices.Repeat([]int{-1}, len(list))
	}
	args := make([]string, len(list))
	for i, item := range list {
		args[i], _ = item.(string)
	}
	return argOffsets(args, false)
}

// eachInText visits the text if its place makes it secret, or else the secrets in it.
func (p Place) eachInText(text string, w walk) {
	switch {
	case p.Announced():
		if p.Whole(text) {
			w.visit(p, text)
		}
		return
	case p.Whole(text):
		w.visit(Place{digest: true}, text)
		return
	}
	scan := newScan(text, w.within)
	for _, s := range scan.spans() {
		w.visit(p, text[s.from:s.to])
	}
	if scan.interrupted && w.missed != nil {
		w.missed()
	}
}

// EmbedsObject reports whether tools store whole objects in an annotation: kubectl, kapp and others that keep what was applied last.
func EmbedsObject(annotation string) bool {
	return strings.HasSuffix(annotation, "last-applied-configuration") || strings.HasPrefix(annotation, "kapp.k14s.io/original") ||
		strings.HasSuffix(annotation, "/last-applied")
}
