package valuesfile

import yaml3 "go.yaml.in/yaml/v3"

// node is a value of the text with its place.
//
//	key: &anchor !!map # comment
//	     ▲start  ▲properties end
//	  name: x
//	  ▲content ▲end
//
// An empty value begins and ends after its ":" or "-", or after its properties. The library knows where a node begins but not where it
// ends, and an edit needs both.
type node struct {
	yaml         *yaml3.Node
	start        int
	properties   int // the end of the anchor and the tag; start if there are none
	content, end int
	header       int  // of a block scalar: the end of its indicators; the comment after them is not included
	flow         bool // in flow style
	implicit     bool // a map without braces in a list: [a: b]
	entries      []entry
}

// entry is a key with its value, or an item of a list.
type entry struct {
	start int
	key   *node // nil in a list
	mark  int   // the offset after ":" or "-"; in a flow list the offset of the item; -1 if a key of a flow map has no ":"
	value *node
}

// isMap and isList report the kind of a node. An alias is neither.
func (n *node) isMap() bool  { return n.yaml.Kind == yaml3.MappingNode }
func (n *node) isList() bool { return n.yaml.Kind == yaml3.SequenceNode }

// isBlock reports whether the node is a map or list in block style.
func (n *node) isBlock() bool { return (n.isMap() || n.isList()) && !n.flow }

// isBlockScalar reports whether the node is a scalar with "|" or ">".
func (n *node) isBlockScalar() bool {
	return n.yaml.Kind == yaml3.ScalarNode && n.yaml.Style&(yaml3.LiteralStyle|yaml3.FoldedStyle) != 0
}

// isEmpty reports whether the node has no text but its properties.
func (n *node) isEmpty() bool {
	return n.yaml.Kind == yaml3.ScalarNode && n.yaml.Value == "" && n.yaml.Style&^yaml3.TaggedStyle == 0
}

// isVoid reports whether the node is null, an empty map or an empty list.
func (n *node) isVoid() bool {
	if n.isMap() || n.isList() {
		return len(n.entries) == 0
	}
	return n.yaml.Kind == yaml3.ScalarNode && n.yaml.Tag == "!!null"
}

// locate returns the root node of a text, or nil if the text has none.
func locate(text string) (*node, error) {
	root, err := parse(text)
	if err != nil || root == nil {
		return nil, err
	}
	l := locator{source: newSource(text)}
	l.pos = l.offset(root.Line, root.Column)
	return l.node(root, -1, false)
}

// locator walks the text and the nodes of the YAML library together: the library says what a node is and where it begins, and the text
// says where it ends. Between two nodes there are only blanks, comments and indicators.
type locator struct {
	source
	pos int // the end of what was located
}

// unexpected returns the error for a text where the locator does not find what the library found. Refusing such a file is safe; a
// guess could put an edit in the wrong place.
func (l *locator) unexpected(at int) error {
	return &lineError{l.line(at), "this form of YAML cannot be edited"}
}

// node locates a node that follows pos. Indent is the column of the block that has it.
func (l *locator) node(y *yaml3.Node, indent int, flow bool) (*node, error) {
	n := &node{yaml: y, flow: y.Style&yaml3.FlowStyle != 0}
	tagged := y.Style&yaml3.TaggedStyle != 0
	if n.isEmpty() && !tagged && y.Anchor == "" {
		n.start, n.properties, n.content, n.end = l.pos, l.pos, l.pos, l.pos
		return n, nil
	}
	n.start = l.skip(l.pos)
	// The walk and the library disagree, so nothing that follows can be trusted.
	if n.start != l.offset(y.Line, y.Column) {
		return nil, l.unexpected(n.start)
	}
	l.properties(n, tagged, flow)
	if n.isEmpty() {
		n.content, n.end = n.properties, n.properties
		return n, nil
	}
	err := l.content(n, indent)
	l.pos = n.end
	return n, err
}

// properties skips the anchor and the tag of a node, in either order. The first key of a map may have properties of its own, so it skips
// only those that the library assigned to the node.
func (l *locator) properties(n *node, tagged, flow bool) {
	l.pos, n.properties = n.start, n.start
	anchored := n.yaml.Anchor != ""
	for range 2 {
		at := l.skip(l.pos)
		switch {
		case anchored && l.peek(at) == '&':
			anchored = false
		case l.peek(at) == '!' && (tagged || n.yaml.Kind == yaml3.ScalarNode):
			tagged = false
		default:
			continue
		}
		n.properties = l.endOfWord(at, flow)
		l.pos = n.properties
	}
	n.content = l.skip(l.pos)
}

// content locates the text after the properties, and all entries.
func (l *locator) content(n *node, indent int) error {
	l.pos = n.content
	switch {
	case n.yaml.Kind == yaml3.AliasNode:
		n.end = n.content + 1 + len(n.yaml.Value)
		return nil
	case n.yaml.Kind == yaml3.ScalarNode:
		return l.scalar(n, indent)
	case n.flow:
		return l.flowEntries(n)
	}
	return l.blockEntries(n)
}

// scalar finds the end of a scalar, which depends on its style. For a plain scalar the text alone is ambiguous, so it also uses the
// value that the library read.
func (l *locator) scalar(n *node, indent int) error {
	style := n.yaml.Style
	switch {
	case style&(yaml3.DoubleQuotedStyle|yaml3.SingleQuotedStyle) != 0:
		n.end = l.endOfQuoted(n.content)
	case style&(yaml3.LiteralStyle|yaml3.FoldedStyle) != 0:
		n.header, n.end = l.endOfBlock(n.content, indent)
	default:
		end, ok := l.endOfPlain(n.content, n.yaml.Value)
		if !ok {
			return l.unexpected(n.content)
		}
		n.end = end
	}
	return nil
}

// blockEntries locates the entries of a map or list in block style. It ends where its last entry ends.
func (l *locator) blockEntries(n *node) error {
	column := l.column(n.content)
	step := 2
	if n.isList() {
		step = 1
	}
	for i := 0; i < len(n.yaml.Content); i += step {
		e := entry{start: l.skip(l.pos)}
		var err error
		switch {
		case n.isMap():
			err = l.key(&e, n.yaml.Content[i], column, false)
			if e.mark < 0 {
				return l.unexpected(e.start)
			}
		case l.peek(e.start) == '-':
			e.mark = e.start + 1
		default:
			return l.unexpected(e.start)
		}
		if err != nil {
			return err
		}
		l.pos = e.mark
		if e.value, err = l.node(n.yaml.Content[i+step-1], column, false); err != nil {
			return err
		}
		n.entries = append(n.entries, e)
		n.end = l.pos
	}
	return nil
}

// key locates a key and the ":" after it.
func (l *locator) key(e *entry, y *yaml3.Node, indent int, flow bool) (err error) {
	explicit := l.peek(e.start) == '?' && l.isBlank(e.start+1)
	if l.pos = e.start; explicit {
		l.pos++
	}
	if e.key, err = l.node(y, indent, flow); err != nil {
		return err
	}
	// The colon may be on another line than the key only after "?" and within braces.
	colon := l.skipSpace(l.pos)
	if explicit || flow {
		colon = l.skip(l.pos)
	}
	if e.mark = -1; l.peek(colon) == ':' {
		e.mark = colon + 1
	}
	return nil
}

// flowEntries locates the entries of a map or list in flow style, and the bracket after them.
func (l *locator) flowEntries(n *node) error {
	if open := l.peek(n.content); open == '{' || open == '[' {
		l.pos++
	} else {
		n.implicit = true // the only pair of [a: b]
	}
	step := 2
	if n.isList() {
		step = 1
	}
	for i := 0; i < len(n.yaml.Content); i += step {
		e := entry{start: l.skip(l.pos)}
		e.mark = e.start
		var err error
		if n.isMap() {
			if err = l.key(&e, n.yaml.Content[i], -1, true); err != nil {
				return err
			}
		}
		if e.mark >= 0 {
			l.pos = e.mark
		}
		if e.value, err = l.node(n.yaml.Content[i+step-1], -1, true); err != nil {
			return err
		}
		n.entries = append(n.entries, e)
		n.end = l.pos
		if next := l.skip(l.pos); !n.implicit && l.peek(next) == ',' {
			l.pos = next + 1
		}
	}
	if n.implicit {
		return nil
	}
	last := l.skip(l.pos)
	if c := l.peek(last); c != '}' && c != ']' {
		return l.unexpected(last)
	}
	n.end = last + 1
	return nil
}
