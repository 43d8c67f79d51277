package owners

import (
	"cmp"
	"slices"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

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

// RawEntries returns the entries of an object's managedFields as the API server wrote them. The index of an entry is its index in live; an
// element that is no map is nil.
func RawEntries(live map[string]any) []map[string]any {
	managed, _ := object.Child(live, "metadata")["managedFields"].([]any)
	out := make([]map[string]any, len(managed))
	for i := range managed {
		out[i], _ = managed[i].(map[string]any)
	}
	return out
}

// Entries reads the managedFields of an object. Entries that cannot be decoded are left out: they own nothing that could be named. Known
// are names of managers besides those that this program knows.
func Entries(live map[string]any, known Managers) []Entry {
	var out []Entry
	for _, raw := range RawEntries(live) {
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
	return slices.ContainsFunc(RawEntries(live), func(raw map[string]any) bool {
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
	set, err := Fields(raw)
	if err != nil || set.Empty() {
		return Entry{}, false
	}
	entry := Entry{Owner: OwnerOf(raw), Fields: set}
	entry.Version, _ = raw["apiVersion"].(string)
	return entry, true
}

// OwnerOf returns the writer that a raw entry of managedFields names, without its group.
func OwnerOf(raw map[string]any) report.Owner {
	var out report.Owner
	out.Manager, _ = raw["manager"].(string)
	out.Operation, _ = raw["operation"].(string)
	out.Subresource, _ = raw["subresource"].(string)
	if stamp, ok := raw["time"].(string); ok {
		if t, err := time.Parse(time.RFC3339, stamp); err == nil {
			out.Time = &t
		}
	}
	return out
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

// IsDeployer reports whether a manager's writes are the release itself.
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

// IsRecorded reports whether the object says anything about its writers. Controllers sign their status anew after somebody has erased
// all names, so that alone says nothing of the rest.
func (o *Ownership) IsRecorded() bool {
	o.read()
	return slices.ContainsFunc(o.entries, func(e Entry) bool { return e.Subresource != "status" })
}

// OwnersOf returns the managers of the field at path, the latest first: those that own it, something below it, or, if nobody does, the
// nearest atomic value that holds it.
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

// AreControllers reports whether controllers wrote a value, and nobody else but the release itself.
func AreControllers(owners []report.Owner) bool {
	return slices.ContainsFunc(owners, func(o report.Owner) bool { return o.Group == report.ManagerController }) &&
		!slices.ContainsFunc(owners, func(o report.Owner) bool {
			return o.Group != report.ManagerController && o.Group != report.ManagerDeployer
		})
}
