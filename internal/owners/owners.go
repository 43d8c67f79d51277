package owners

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

// Ownership is metadata.managedFields of one live object: who wrote which field last.
type Ownership struct {
	entries []Entry
	// deployers are the managers whose writes are the release itself.
	deployers map[string]bool
	// later reads the two above when somebody asks; nil once it has.
	later func()
	// persons reports whether a person's tool is among the managers. It does not read the entries, which most objects never need.
	persons bool
}

// Entry is one entry of managedFields: what one manager owns.
type Entry struct {
	report.Owner
	// Version is that of the API at which the manager wrote.
	Version string
	Fields  *fieldpath.Set
}

// Entries reads the managedFields of an object. Entries that cannot be decoded are left out: they own nothing that could be named. Known
// are names of managers besides those that this program knows.
func Entries(live map[string]any, known Managers) []Entry {
	var out []Entry
	managed, _ := object.Child(live, "metadata")["managedFields"].([]any)
	for _, m := range managed {
		raw, _ := m.(map[string]any)
		if entry, ok := EntryOf(raw); ok {
			entry.Group = known.groupOf(entry.Manager)
			out = append(out, entry)
		}
	}
	return out
}

// Read reads managedFields at once.
func Read(live map[string]any, known Managers) *Ownership {
	o := &Ownership{entries: Entries(live, known), deployers: map[string]bool{}, persons: namesPerson(live, known)}
	o.findDeployers()
	return o
}

// Lazy reads managedFields on first use. Most objects of a release are as they were deployed and never need it, and reading
// takes as long as comparing the object. Deployer finds the manager under which the release is written.
func Lazy(live map[string]any, known Managers, release string, deployer func() Deployer) *Ownership {
	o := &Ownership{persons: namesPerson(live, known)}
	o.later = func() {
		*o = *Read(live, known)
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

// ByPerson reports whether a person owns the field at path, alone or beside others.
func (o *Ownership) ByPerson(path object.Path) bool {
	return o.persons && slices.ContainsFunc(o.OwnersOf(path), func(owner report.Owner) bool { return owner.Group == report.ManagerPerson })
}

func (o *Ownership) read() {
	if o.later != nil {
		o.later()
	}
}

// EntryOf reads one entry of managedFields, false if it owns nothing or cannot be decoded.
func EntryOf(raw map[string]any) (Entry, bool) {
	fields, _ := raw["fieldsV1"].(map[string]any)
	set := &fieldpath.Set{}
	if !Fill(set, fields) || set.Empty() {
		return Entry{}, false
	}
	entry := Entry{Fields: set}
	entry.Manager, _ = raw["manager"].(string)
	entry.Operation, _ = raw["operation"].(string)
	entry.Version, _ = raw["apiVersion"].(string)
	entry.Subresource, _ = raw["subresource"].(string)
	if stamp, ok := raw["time"].(string); ok {
		if t, err := time.Parse(time.RFC3339, stamp); err == nil {
			entry.Time = &t
		}
	}
	return entry, true
}

// Fill adds to a set what fieldsV1 name, as fieldpath.Set's FromJSON does with their text; false where they are not understood. A field
// that has nothing below it, or a dot, is owned itself. Elements of a kind that is not known yet are left out.
func Fill(set *fieldpath.Set, fields map[string]any) bool {
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
		if !Fill(children, below) {
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
func (o *Ownership) findDeployers() {
	for _, owner := range o.OwnersOf(releaseAnnotation()) {
		if owner.Group != report.ManagerPerson {
			o.deployers[owner.Manager] = true
		}
	}
}

// IsDeployer tells whether a manager's writes are the release itself.
func (o *Ownership) IsDeployer(owner report.Owner) bool {
	o.read()
	return o.deployers[owner.Manager] || owner.Group == report.ManagerDeployer
}

// AreDeployersAlone reports whether the release itself wrote the field at path, at one version of the API, and nobody else did.
func (o *Ownership) AreDeployersAlone(path object.Path, version string) bool {
	o.read()
	owned := false
	for _, e := range o.entries {
		switch {
		case !OwnsWithin(e.Fields, path):
		case e.Version != version || !o.IsDeployer(e.Owner):
			return false
		default:
			owned = true
		}
	}
	return owned
}

// IsForgotten reports whether a manager stands for writers that nobody remembers: those of an object with more than ten
// (apimachinery v0.36.3 util/managedfields/internal/capmanagers.go), and those before the first apply of an object without managers
// (skipnonapplied.go there). Anybody may sign by these names as well.
func IsForgotten(manager string) bool {
	return manager == "ancient-changes" || manager == "before-first-apply"
}

// AreForgotten reports whether a value is signed, and by nobody but forgotten writers.
func AreForgotten(owners []report.Owner) bool {
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o report.Owner) bool { return !IsForgotten(o.Manager) })
}

// IsRecorded tells whether the object says anything of its writers. Controllers sign their status anew after somebody has erased
// all names, so that alone says nothing of the rest.
func (o *Ownership) IsRecorded() bool {
	o.read()
	return slices.ContainsFunc(o.entries, func(e Entry) bool { return e.Subresource != "status" })
}

// OwnersOf returns the managers of the field at path, the latest first: those that own it, something below it, or, if nobody does, the nearest
// atomic value that holds it.
func (o *Ownership) OwnersOf(path object.Path) []report.Owner {
	if owners := o.matching(func(s *fieldpath.Set) bool { return OwnsWithin(s, path) }); len(owners) > 0 {
		return owners
	}
	for n := len(path) - 1; n > 0; n-- {
		if owners := o.matching(func(s *fieldpath.Set) bool { return OwnsWhole(s, path[:n]) }); len(owners) > 0 {
			return owners
		}
	}
	return nil
}

func (o *Ownership) matching(owns func(*fieldpath.Set) bool) []report.Owner {
	o.read()
	var out []report.Owner
	for _, e := range o.entries {
		if owns(e.Fields) {
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

// OwnsWithin reports whether a set has the path or anything below it.
func OwnsWithin(s *fieldpath.Set, path object.Path) bool {
	target := FieldPath(path)
	return s.Has(target) || !subset(s, target).Empty()
}

// OwnsWhole reports whether a set has the path and nothing below it: an atomic value.
func OwnsWhole(s *fieldpath.Set, path object.Path) bool {
	target := FieldPath(path)
	return s.Has(target) && subset(s, target).Empty()
}

// OwnsAround reports whether a set has what holds the path as one value.
func OwnsAround(s *fieldpath.Set, path object.Path) bool {
	for n := len(path) - 1; n > 0; n-- {
		if OwnsWhole(s, path[:n]) {
			return true
		}
	}
	return false
}

func subset(s *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	for _, element := range path {
		s = s.WithPrefix(element)
	}
	return s
}

// FieldPath translates a Path into structured-merge-diff's. An index names nothing there, so the path ends before it.
func FieldPath(path object.Path) fieldpath.Path {
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

// AreControllers tells whether nobody but controllers wrote a value, and the release itself.
func AreControllers(owners []report.Owner) bool {
	return slices.ContainsFunc(owners, func(o report.Owner) bool { return o.Group == report.ManagerController }) &&
		!slices.ContainsFunc(owners, func(o report.Owner) bool {
			return o.Group != report.ManagerController && o.Group != report.ManagerDeployer
		})
}
