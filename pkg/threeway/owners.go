package threeway

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// ownership is metadata.managedFields of one live object: who wrote which field last.
type ownership struct {
	entries []ownerEntry
	// deployers are the managers whose writes are the release itself.
	deployers map[string]bool
	// later reads the two above when somebody asks; nil once it has.
	later func()
	// persons reports whether a person's tool is among the managers. It does not read the entries, which most objects never need.
	persons bool
}

type ownerEntry struct {
	report.Owner
	// version is that of the API at which the manager wrote.
	version string
	fields  *fieldpath.Set
}

// ownershipOf reads managedFields. Entries that do not parse are left out: they own nothing that could be named. Known are names of
// managers beside those that this program knows.
func ownershipOf(live map[string]any, known Managers) *ownership {
	o := &ownership{deployers: map[string]bool{}, persons: namesPerson(live, known)}
	managed, _ := object.Child(live, "metadata")["managedFields"].([]any)
	for _, m := range managed {
		raw, _ := m.(map[string]any)
		if entry, ok := ownerEntryOf(raw); ok {
			entry.Group = known.groupOf(entry.Manager)
			o.entries = append(o.entries, entry)
		}
	}
	o.findDeployers()
	return o
}

// ownershipLater does so when it is first asked, which most objects of a release, being as they were deployed, never are: reading
// managedFields takes as long as comparing the object.
func ownershipLater(live map[string]any, known Managers, release string, deployer func() Deployer) *ownership {
	o := &ownership{persons: namesPerson(live, known)}
	o.later = func() {
		*o = *ownershipOf(live, known)
		named := object.Child(object.Child(live, "metadata"), "annotations")[object.ReleaseNameAnnotation]
		if named != release {
			clear(o.deployers) // whoever wrote another name there deploys something else
		}
		if d := deployer(); named == nil && d.Known {
			o.deployers[d.Manager] = true
		}
		o.followMoves(live)
	}
	return o
}

// namesPerson reports whether managedFields name a person's tool.
func namesPerson(live map[string]any, known Managers) bool {
	managed, _ := object.Child(live, "metadata")["managedFields"].([]any)
	return slices.ContainsFunc(managed, func(m any) bool {
		raw, _ := m.(map[string]any)
		manager, _ := raw["manager"].(string)
		return known.groupOf(manager) == report.ManagerPerson
	})
}

// byPerson reports whether a person owns the field at path, alone or beside others.
func (o *ownership) byPerson(path object.Path) bool {
	return o.persons && slices.ContainsFunc(o.of(path), func(owner report.Owner) bool { return owner.Group == report.ManagerPerson })
}

func (o *ownership) read() {
	if o.later != nil {
		o.later()
	}
}

func ownerEntryOf(raw map[string]any) (ownerEntry, bool) {
	fields, _ := raw["fieldsV1"].(map[string]any)
	set := &fieldpath.Set{}
	if !fill(set, fields) || set.Empty() {
		return ownerEntry{}, false
	}
	entry := ownerEntry{fields: set}
	entry.Manager, _ = raw["manager"].(string)
	entry.Operation, _ = raw["operation"].(string)
	entry.version, _ = raw["apiVersion"].(string)
	entry.Subresource, _ = raw["subresource"].(string)
	if stamp, ok := raw["time"].(string); ok {
		if t, err := time.Parse(time.RFC3339, stamp); err == nil {
			entry.Time = &t
		}
	}
	return entry, true
}

// fill adds to a set what fieldsV1 name, as fieldpath.Set's FromJSON does with their text; false where they are not understood. A field
// that has nothing below it, or a dot, is owned itself. Elements of a kind that is not known yet are left out.
func fill(set *fieldpath.Set, fields map[string]any) bool {
	for _, name := range object.SortedKeys(fields) {
		if name == "." {
			continue
		}
		element, err := fieldpath.DeserializePathElement(name)
		if errors.Is(err, fieldpath.ErrUnknownPathElementType) {
			continue
		}
		below, ok := fields[name].(map[string]any)
		if err != nil || !ok && fields[name] != nil {
			return false
		}
		children := &fieldpath.Set{}
		if !fill(children, below) {
			return false
		}
		_, itself := below["."]
		if leaf := children.Empty(); leaf || itself {
			set.Members.Insert(element)
		}
		if !children.Empty() {
			*set.Children.Descend(element) = *children
		}
	}
	return true
}

// findDeployers names the managers that deploy: those known to, and whoever owns the release annotation, as any program that
// embeds Helm's library does under its own name. A person's tool may own it after an adoption by hand and deploys nothing.
func (o *ownership) findDeployers() {
	for _, owner := range o.of(releaseAnnotation()) {
		if owner.Group != report.ManagerPerson {
			o.deployers[owner.Manager] = true
		}
	}
}

// isDeployer tells whether a manager's writes are the release itself.
func (o *ownership) isDeployer(owner report.Owner) bool {
	o.read()
	return o.deployers[owner.Manager] || owner.Group == report.ManagerDeployer
}

// isForgotten reports whether a manager stands for writers that nobody remembers: those of an object with more than ten
// (apimachinery v0.36.3 util/managedfields/internal/capmanagers.go), and those before the first apply of an object without managers
// (skipnonapplied.go there). Anybody may sign by these names as well.
func isForgotten(manager string) bool {
	return manager == "ancient-changes" || manager == "before-first-apply"
}

// areForgotten reports whether a value is signed, and by nobody but forgotten writers.
func areForgotten(owners []report.Owner) bool {
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o report.Owner) bool { return !isForgotten(o.Manager) })
}

// known tells whether the object says anything of its writers. Controllers sign their status anew after somebody has erased
// all names, so that alone says nothing of the rest.
func (o *ownership) known() bool {
	o.read()
	return slices.ContainsFunc(o.entries, func(e ownerEntry) bool { return e.Subresource != "status" })
}

// of names the managers of the field at path, the latest first: those that own it, something below it, or, where nobody
// does, an atomic value that holds it.
func (o *ownership) of(path object.Path) []report.Owner {
	target := fieldPath(path)
	if owners := o.matching(func(s *fieldpath.Set) bool { return ownsWithin(s, target) }); len(owners) > 0 {
		return owners
	}
	for n := len(target) - 1; n > 0; n-- {
		atomic := target[:n]
		if owners := o.matching(func(s *fieldpath.Set) bool { return ownsWhole(s, atomic) }); len(owners) > 0 {
			return owners
		}
	}
	return nil
}

func (o *ownership) matching(owns func(*fieldpath.Set) bool) []report.Owner {
	o.read()
	var out []report.Owner
	for _, e := range o.entries {
		if owns(e.fields) {
			out = append(out, e.Owner)
		}
	}
	slices.SortStableFunc(out, laterFirst)
	return out
}

func laterFirst(a, b report.Owner) int {
	if a.Time != nil && b.Time != nil && !a.Time.Equal(*b.Time) {
		return b.Time.Compare(*a.Time)
	}
	return cmp.Or(cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Subresource, b.Subresource))
}

// ownsWithin tells whether the set has the path or anything below it.
func ownsWithin(s *fieldpath.Set, path fieldpath.Path) bool {
	if s.Has(path) {
		return true
	}
	return !subset(s, path).Empty()
}

// ownsWhole tells whether the set has the path and nothing below it: an atomic value.
func ownsWhole(s *fieldpath.Set, path fieldpath.Path) bool {
	return s.Has(path) && subset(s, path).Empty()
}

func subset(s *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	for _, element := range path {
		s = s.WithPrefix(element)
	}
	return s
}

// fieldPath translates a Path into structured-merge-diff's. An index names nothing there, so the path ends before it.
func fieldPath(path object.Path) fieldpath.Path {
	var out fieldpath.Path
	for _, s := range path {
		switch s.Form {
		case object.FieldStep:
			out = append(out, fieldpath.PathElement{FieldName: &s.Name})
		case object.KeyStep:
			out = append(out, fieldpath.PathElement{Key: keyFields(s.Keys)})
		case object.SetStep:
			v := value.NewValueInterface(s.Value)
			out = append(out, fieldpath.PathElement{Value: &v})
		case object.IndexStep:
			return out
		}
	}
	return out
}

func keyFields(keys []object.ListKey) *value.FieldList {
	list := make(value.FieldList, len(keys))
	for i, k := range keys {
		list[i] = value.Field{Name: k.Name, Value: value.NewValueInterface(k.Value)}
	}
	list.Sort()
	return &list
}
