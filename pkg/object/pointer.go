package object

import (
	"slices"
	"strconv"
	"strings"
)

// Pointer is a JSON pointer (RFC 6901) as its reference tokens: names of fields, and indexes of list items.
type Pointer []string

// Pointer returns the pointer of the path in root, or false if root lacks the place. If several items of a list have the name of a step,
// it takes the first.
func (p Path) Pointer(root any) (Pointer, bool) {
	var pointer Pointer
	node := root
	for _, s := range p {
		token, next, ok := s.Find(node)
		if !ok {
			return nil, false
		}
		pointer = append(pointer, token)
		node = next
	}
	return pointer, true
}

// PointerInto returns the pointer of the path in the text of an object, given its normal form: the path names list items as the normal
// form has them, and the text has the items at the same indexes. It returns false if the text lacks the place, for example because a
// default is there.
func (p Path) PointerInto(text, normal any) (Pointer, bool) {
	pointer, ok := p.Pointer(normal)
	if !ok {
		return nil, false
	}
	_, ok = pointer.Lookup(text)
	return pointer, ok
}

// LookupIn returns the value at the path in the text of an object, given its normal form as in PointerInto.
func (p Path) LookupIn(text, normal any) (any, bool) {
	last := len(p) - 1
	if last < 0 || p[last].Form == FieldStep {
		pointer, ok := p.Pointer(normal)
		if !ok {
			return nil, false
		}
		return pointer.Lookup(text)
	}
	holder, ok := p[:last].LookupIn(text, normal)
	items, _ := p[:last].Lookup(normal)
	normalList, _ := items.([]any)
	list, _ := holder.([]any)
	found := Pick(list, p[last].Indexes(normalList))
	return OneOrList(found), ok && len(found) > 0
}

// String returns the pointer as RFC 6901 writes it: /spec/containers/0/image. The pointer of the root is the empty string.
func (p Pointer) String() string {
	var b strings.Builder
	for _, token := range p {
		b.WriteString("/" + EscapeToken(token))
	}
	return b.String()
}

// EscapeToken returns a name as a reference token of a JSON pointer.
func EscapeToken(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// Lookup returns the value that the pointer leads to, or false if root lacks it.
func (p Pointer) Lookup(root any) (any, bool) {
	node := root
	for _, token := range p {
		switch n := node.(type) {
		case map[string]any:
			next, ok := n[token]
			if !ok {
				return nil, false
			}
			node = next
		case []any:
			i, ok := indexOf(token, n)
			if !ok {
				return nil, false
			}
			node = n[i]
		default:
			return nil, false
		}
	}
	return node, true
}

// Edit replaces the value that the pointer leads to by what edit returns for it, in place if possible, and returns the root. It changes
// nothing if root lacks a list item on the way.
func (p Pointer) Edit(root any, edit func(any) any) any {
	if len(p) == 0 {
		return edit(root)
	}
	switch n := root.(type) {
	case map[string]any:
		n[p[0]] = p[1:].Edit(n[p[0]], edit)
	case []any:
		if i, ok := indexOf(p[0], n); ok {
			n[i] = p[1:].Edit(n[i], edit)
		}
	}
	return root
}

// Remove removes the value that the pointer leads to, in place if possible, and returns the root. The pointer must not be empty.
func (p Pointer) Remove(root any) any {
	last := len(p) - 1
	return p[:last].Edit(root, func(holder any) any {
		switch h := holder.(type) {
		case map[string]any:
			delete(h, p[last])
		case []any:
			if i, ok := indexOf(p[last], h); ok {
				return slices.Delete(h, i, i+1)
			}
		}
		return holder
	})
}

// indexOf returns the token as an index of list, or false if it is not one.
func indexOf(token string, list []any) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && i < len(list)
}
