package threeway

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/document"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Mask decides which values a Report may show. The zero Mask hides every value that could be a secret.
type Mask struct {
	// Show turns masking off.
	Show bool
}

// Scrub returns a text without the values that a Report masks. It is for texts that are shown and may quote an object, such as an error of
// the API server.
func (c *Comparison) Scrub(text string) string { return c.secrets().Scrub(text) }

// Interrupted reports whether an interrupt has kept the comparison from finding all secrets in its objects. A Report with masked values
// then has nothing but an error that says so.
func (c *Comparison) Interrupted() bool { return c.known.Missed() }

// secrets returns the secrets in the objects of the comparison. It collects them on first use.
func (c *Comparison) secrets() *secret.Known {
	if c.known != nil {
		return c.known
	}
	c.known = (&secret.Known{}).With(c.Input.Known)
	for _, list := range [][]object.Object{c.Input.OldObjects, c.Input.DesiredObjects, c.Input.LastObjects} {
		for _, o := range list {
			c.known.AddObject(o.Group, o.Kind, o.Content)
			c.known.AddObject(o.Group, o.Kind, o.Again)
			c.known.AddObject(o.Group, o.Kind, o.AtOnce)
		}
	}
	for ref, l := range c.Input.Live {
		c.known.AddObject(ref.Group, ref.Kind, l.Object)
	}
	return c.known
}

// SecretsOf returns what says which values of an object a Report masks: the place of the object, and the secrets in all objects of the
// comparison.
func (c *Comparison) SecretsOf(ref object.Ref, object map[string]any) (secret.Place, *secret.Known) {
	return rootOf(ref, object), c.secrets()
}

// rootOf returns the place of an object. It is a Secret if its key says so, or the kind of any state.
func rootOf(ref object.Ref, sides ...map[string]any) secret.Place {
	for _, side := range sides {
		if kind, _ := side["kind"].(string); secret.Kind("", kind) {
			return secret.Root("", kind)
		}
	}
	return secret.Root(ref.Group, ref.Kind)
}

// masker hides the secrets of one object.
type masker struct {
	// showsAll turns masking off.
	showsAll bool
	known    *secret.Known
	root     secret.Place
	// states are the states where paths are looked up, live first.
	states []namedState
}

type namedState struct {
	name  string
	value any
}

// masker returns the masker of an object.
func (c *Comparison) masker(o *ObjectComparison, mask Mask) *masker {
	return &masker{
		showsAll: mask.Show, known: c.secrets(), root: rootOf(o.Ref, o.Content, o.liveText, o.desiredText),
		states: []namedState{{"", o.Live}, {"desired", o.Desired}, {"old", o.Old}, {"after", o.Result}},
	}
}

// scrub replaces the secrets in a text.
func (m *masker) scrub(text string) string {
	if m.showsAll {
		return text
	}
	return m.known.Scrub(text)
}

// placeAt returns the place of a path.
func (m *masker) placeAt(path object.Path) secret.Place {
	place := m.root
	for i, s := range path {
		if s.Form == object.FieldStep {
			place = place.Field(s.Name)
		} else {
			place = place.Item(m.itemName(path[:i+1]))
		}
	}
	return place
}

// itemName returns the name of the list item at the end of a path: from its keys, or else from the item in one of the states.
func (m *masker) itemName(path object.Path) string {
	for _, k := range path[len(path)-1].Keys {
		if name, ok := k.Value.(string); ok && (k.Name == "name" || k.Name == "key") {
			return name
		}
	}
	for _, side := range m.states {
		item, _ := path.Lookup(side.value)
		if name := secret.ItemName(item); name != "" {
			return name
		}
	}
	return ""
}

// shownPath returns a path as a report has it.
func (m *masker) shownPath(path object.Path) object.Path {
	if m.showsAll {
		return path
	}
	return m.hiddenPath(path)
}

// hiddenPath returns a path with the secret keys of list items replaced by the number of the item, and likewise secret names of fields.
func (m *masker) hiddenPath(path object.Path) object.Path {
	shown := slices.Clone(path)
	for i := range path {
		shown[i], _ = m.hide(path[:i+1])
	}
	return shown
}

// hide returns the last step of a path with what is secret in it replaced by the number of the item or of the field, and reports whether
// anything is: a list-map key, a member of a set, or the name of a field.
func (m *masker) hide(path object.Path) (shown object.Step, hidden bool) {
	holder, s := path[:len(path)-1], path[len(path)-1]
	switch s.Form {
	case object.KeyStep:
		item, keys := m.placeAt(holder).Item(""), slices.Clone(s.Keys)
		for i, k := range s.Keys {
			if item.Field(k.Name).Holds(k.Value) || m.known.Holds(k.Value) {
				keys[i].Value, hidden = secret.Mask+m.ordinal(path), true
			}
		}
		s.Keys = keys
	case object.SetStep:
		if hidden = m.placeAt(holder).Item("").Holds(s.Value) || m.known.Holds(s.Value); hidden {
			s.Value = secret.Mask + m.ordinal(path)
		}
	case object.FieldStep:
		if hidden = secret.MayBeValue(s.Name) && m.known.Holds(s.Name); hidden {
			s.Name = secret.Mask + m.ordinal(path)
		}
	case object.IndexStep:
	}
	return s, hidden
}

// hidesName reports whether the name of a field in a path is hidden.
func (m *masker) hidesName(path object.Path) bool {
	return !m.showsAll && slices.ContainsFunc(path, func(s object.Step) bool {
		return s.Form == object.FieldStep && secret.MayBeValue(s.Name) && m.known.Holds(s.Name)
	})
}

// ordinal identifies an item whose keys are hidden: its number in live's list, or in the list of another state. Fields are numbered by
// their names.
func (m *masker) ordinal(path object.Path) string {
	last := len(path) - 1
	for _, side := range m.states {
		holder, _ := path[:last].Lookup(side.value)
		number := -1
		if fields, isMap := holder.(map[string]any); isMap {
			number = slices.Index(object.SortedKeys(fields), path[last].Name)
		} else if index, _, found := path[last].Find(holder); found {
			number, _ = strconv.Atoi(index)
		}
		if number >= 0 {
			return "#" + strconv.Itoa(number+1) + side.name
		}
	}
	return ""
}

// pattern returns the pattern of an ignore rule for a path. An item with secret keys is named by its index in live's list; the pattern is
// empty if live lacks such an item, or if the name of a field is hidden.
func (m *masker) pattern(path object.Path) string {
	if m.showsAll {
		return ignore.PatternOf(path)
	}
	shown := slices.Clone(path)
	for i, s := range path {
		if _, hidden := m.hide(path[:i+1]); !hidden {
			continue
		}
		list, _ := path[:i].Lookup(m.states[0].value)
		index, _, found := s.Find(list)
		if !found || s.Form == object.FieldStep {
			return ""
		}
		n, _ := strconv.Atoi(index)
		shown[i] = object.Step{Form: object.IndexStep, Index: n}
	}
	return ignore.PatternOf(shown)
}

// ShownPointer returns a JSON pointer as a Report has it: a name of a field that is a secret is hidden.
func (c *Comparison) ShownPointer(pointer string, mask Mask) string {
	if mask.Show {
		return pointer
	}
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		if secret.MayBeValue(token) && c.secrets().Holds(strings.NewReplacer("~1", "/", "~0", "~").Replace(token)) {
			tokens[i] = secret.Mask
		}
	}
	return strings.Join(tokens, "/")
}

// ShownPath returns a path as a Report names it.
func (c *Comparison) ShownPath(o *ObjectComparison, path object.Path) object.Path {
	return c.masker(o, Mask{}).shownPath(path)
}

// inside returns what differs inside the documents of a finding, or nil if the sides are not documents. It is not called for a masked
// finding: names in a document that holds a secret may be secret too, and a masked snapshot may have another structure.
func (o *ObjectComparison) inside(f verdict.Finding, mask *masker) *report.Inside {
	if !o.holdsDocuments(f.Path) {
		return nil
	}
	isData := o.Kind == "Secret" && o.Group == "" && f.Path[0].Name == "data"
	var texts document.Sides[*string]
	for i, side := range [...]any{document.Old: f.Old, document.Desired: f.Desired, document.Live: f.Live} {
		if side == nil {
			continue
		}
		text, isText := side.(string)
		if isData {
			raw, err := base64.StdEncoding.DecodeString(text)
			text, isText = string(raw), isText && err == nil
		}
		if !isText {
			return nil
		}
		texts[i] = &text
	}
	d, ok := document.Compare(f.Path[len(f.Path)-1].Name, texts)
	if !ok {
		return nil
	}
	out := &report.Inside{Format: string(d.Format), OnlyFormatting: len(d.Changes) == 0, More: d.More}
	within := mask.within(d.Roots)
	for _, c := range d.Changes {
		out.Changes = append(out.Changes, within.change(c))
	}
	return out
}

// holdsDocuments reports whether people keep documents at a path: an entry of a ConfigMap or Secret, an annotation, or a field of a custom
// resource.
func (o *ObjectComparison) holdsDocuments(path object.Path) bool {
	if len(path) == 0 || path[len(path)-1].Form != object.FieldStep {
		return false
	}
	isCore := o.Group == ""
	switch {
	case len(path) > 2 && path[len(path)-2].Name == "annotations" && path[len(path)-3].Name == "metadata":
		return true
	case isCore && o.Kind == "ConfigMap":
		return len(path) == 2 && path[0].Name == "data"
	case isCore && o.Kind == "Secret":
		return len(path) == 2 && (path[0].Name == "data" || path[0].Name == "stringData")
	}
	return path[0].Name != "metadata" && kinds.Native().Shape(o.GVK()) == nil
}

// within returns the masker of documents. It hides only what the documents' own names and texts mark as secret.
func (m *masker) within(roots document.Sides[any]) *masker {
	states := []namedState{{"", roots[document.Live]}, {"desired", roots[document.Desired]}, {"old", roots[document.Old]}}
	return &masker{showsAll: m.showsAll, known: m.known, states: states}
}

// change returns a change inside a document as a report has it. A dot stands for the document itself.
func (m *masker) change(c document.Change) report.InsideChange {
	out := report.InsideChange{
		Path: cmp.Or(m.shownPath(c.Path).String(), "."), Change: string(c.Kind), Cause: report.CauseDrift,
		Masked: m.hides(c.Path, c.Values[:]...),
	}
	switch {
	case c.Live && c.Desired:
		out.Cause = report.CauseBoth
	case c.Desired:
		out.Cause = report.CauseChange
	}
	if !out.Masked {
		out.Old, out.Desired, out.Live = c.Values[document.Old], c.Values[document.Desired], c.Values[document.Live]
	}
	return out
}
