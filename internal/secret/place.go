package secret

import (
	"fmt"
	"slices"
	"strings"
)

// Place is where a value stands in an object, as far as that decides whether it is secret. The zero Place is the root of an object that
// is no Secret. A Place is made step by step on the way to a value.
type Place struct {
	form form
	// plain is set for a field that stays readable below an announced name, as long as it is a text itself.
	plain bool
	// digest is set for the checksum of a secret, by which a chart restarts pods: it is masked, and nothing else is kept from anywhere for it.
	digest bool
	// pair is set for an item of a list whose name announces a secret; its value is one.
	pair bool
}

type form int

const (
	// open: nothing announces a secret.
	open form = iota
	// referring: the name is that of a reference; a map there can hold secrets all the same.
	referring
	// inside: a name announces a secret.
	inside
	// hidden: nothing below is readable.
	hidden
	// ofSecret is the root of a Secret.
	ofSecret
	// schema describes values and holds none.
	schema
)

// Root is the place of a whole object. Kind is what it, or the one who asked for it, says it is.
func Root(group, kind string) Place {
	if Kind(group, kind) {
		return Place{form: ofSecret}
	}
	return Place{}
}

// Kind reports whether objects of a kind are Secrets, or lists of them.
func Kind(group, kind string) bool { return group == "" && (kind == "Secret" || kind == "SecretList") }

// Hidden is a place at which every text and number is secret.
func Hidden() Place { return Place{form: hidden} }

// Field is the place of a field, or of a key of a map.
func (p Place) Field(name string) Place {
	switch p.form {
	case hidden, schema:
		return p
	case ofSecret:
		if slices.Contains([]string{"apiVersion", "kind", "metadata", "type", "immutable"}, name) {
			return Place{}
		}
		return Hidden()
	case open, referring, inside:
	}
	switch {
	case EmbedsObject(name):
		return Hidden()
	case name == "openAPIV3Schema":
		return Place{form: schema}
	case p.pair && name == "value":
		return Place{form: inside}
	case p.form == inside:
		return Place{form: inside, plain: readableBelow()[strings.ToLower(name)] || isAbout(name)}
	case Name(name):
		return Place{form: inside, digest: strings.HasPrefix(name, "checksum/")}
	case refersToSecret(name):
		return Place{form: referring}
	}
	return Place{}
}

// refersToSecret reports whether a name is that of a Secret which holds something: tlsSecret, imagePullSecrets.
func refersToSecret(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 || Name(name) {
		return false
	}
	last := words[len(words)-1]
	return last == "secret" || last == "secrets" || referringWords()[last]
}

// isAbout reports whether a name tells something about a secret, or where it is: secretKeyRef, tokenTTL.
func isAbout(name string) bool {
	return slices.ContainsFunc(wordsOf(name), isAnnouncing) && !Name(name)
}

// Item is the place of an item of a list. Name is what the item is called by its name field, or by its key field; empty where it has
// none.
func (p Place) Item(name string) Place {
	p.plain = p.form == inside && p.plain
	p.pair = name != "" && header(name)
	return p
}

// Announced reports whether a text at the place is secret whatever it says.
func (p Place) Announced() bool {
	return p.form == hidden || p.form == inside && !p.plain || p.form == ofSecret
}

// Holds reports whether a value at the place is to be masked: it is secret, it holds a secret, or the checksum of one.
func (p Place) Holds(v any) bool {
	found := false
	p.each(v, func(Place, string) { found = true })
	return found
}

// Each visits the secrets that a value at the place is or holds.
func (p Place) Each(v any, visit func(text string)) {
	p.each(v, func(at Place, text string) {
		if !at.digest {
			visit(text)
		}
	})
}

// each visits what is masked.
func (p Place) each(v any, visit func(at Place, text string)) {
	switch v := v.(type) {
	case map[string]any:
		p.eachOfMap(v, visit)
	case []any:
		p.eachOfList(v, visit)
	case string:
		p.eachOfText(v, visit)
	case nil, bool:
	default: // a number
		if p.Announced() {
			visit(p, fmt.Sprint(v))
		}
	}
}

func (p Place) eachOfMap(m map[string]any, visit func(Place, string)) {
	p = p.ofMap(m)
	for name, below := range m {
		p.fieldOf(m, name).each(below, visit)
	}
}

// ofMap is the place as what stands there says more of it.
func (p Place) ofMap(m map[string]any) Place {
	if p.form == open && m["kind"] == "Secret" && (m["data"] != nil || m["stringData"] != nil) {
		p = Place{form: ofSecret}
	}
	if p.form == referring {
		p = Place{form: inside}
	}
	if p.form == open && !p.pair {
		p = p.Item(itemName(m))
	}
	return p
}

// fieldOf is the place of a field of a map.
func (p Place) fieldOf(m map[string]any, name string) Place {
	if _, isRemote := m["remoteRef"]; isRemote && name == "secretKey" { // external-secrets.io ExternalSecret spec.data
		return Place{}
	}
	return p.Field(name)
}

// itemName is what a map with a name and a value says its value is called.
func itemName(m map[string]any) string {
	if _, has := m["value"]; !has {
		return ""
	}
	for _, field := range []string{"name", "key"} {
		if name, ok := m[field].(string); ok {
			return name
		}
	}
	return ""
}

func (p Place) eachOfList(list []any, visit func(Place, string)) {
	args := make([]string, len(list))
	for i, item := range list {
		args[i], _ = item.(string)
		p.Item("").each(item, visit)
	}
	if p.form == schema {
		return
	}
	for _, found := range secretArgs(args) {
		visit(p, found)
	}
}

func (p Place) eachOfText(text string, visit func(Place, string)) {
	if p.Announced() {
		if p.form != inside || !isHarmless(text) {
			visit(p, text)
		}
		return
	}
	for _, s := range spansOf(text) {
		visit(p, text[s.from:s.to])
	}
}

// EmbedsObject reports whether an annotation is one in which tools keep whole objects.
func EmbedsObject(annotation string) bool {
	return strings.HasSuffix(annotation, "last-applied-configuration") || strings.HasPrefix(annotation, "kapp.k14s.io/original") ||
		strings.HasSuffix(annotation, "/last-applied")
}

// isHarmless reports whether a text is no secret even where one is announced: it is empty or masked, switches something, or only points to
// where the secret is.
func isHarmless(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || strings.HasPrefix(text, Mask+"#") || harmless()[strings.ToLower(text)] || isPointer(text)
}

// isPointer reports whether a text only says where a secret is: a variable, a template, a file, a reference of a secret store.
func isPointer(text string) bool {
	for _, wrap := range [][2]string{{"$(", ")"}, {"${", "}"}, {"{{", "}}"}, {"%(", ")s"}, {"<", ">"}} {
		if inner, ok := strings.CutPrefix(text, wrap[0]); ok {
			inner, ok = strings.CutSuffix(inner, wrap[1])
			return ok && !strings.ContainsAny(inner, "{}()<>") && !strings.Contains(inner, ":-")
		}
	}
	if name, ok := strings.CutPrefix(text, "$"); ok {
		return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	}
	for _, scheme := range []string{"ref+", "op://", "file:///", "arn:aws:secretsmanager:", "secretref://"} {
		if strings.HasPrefix(text, scheme) {
			return true
		}
	}
	for _, dir := range []string{"etc", "var", "run", "opt", "home", "root", "mnt", "tmp", "usr", "srv", "secrets", "certs", "vault"} {
		if strings.HasPrefix(text, "/"+dir+"/") {
			return !strings.ContainsAny(text, " \n=")
		}
	}
	return false
}
