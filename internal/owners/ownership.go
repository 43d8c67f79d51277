package owners

import (
	"cmp"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Ownership is the metadata.managedFields of one live object: who wrote which field last.
type Ownership struct {
	entries []Entry
	// deployers has the managers that write the release itself.
	deployers map[string]bool
	// decode sets the two fields above. The first call sets it to nil.
	decode func()
	// isSecret is set for a Secret: the server stores its stringData in data.
	isSecret bool
	// hasPerson reports whether a person's tool is among the managers.
	hasPerson bool
}

// New returns the ownership of a live object. It decodes managedFields on first use. Deployer finds the manager that writes the release.
func New(live map[string]any, known Managers, release string, deployer func() Deployer) *Ownership {
	o := &Ownership{hasPerson: namesPerson(live, known), isSecret: live["kind"] == "Secret" && live["apiVersion"] == "v1"}
	o.decode = func() {
		o.decode = nil
		o.entries, o.deployers = Entries(live, known), map[string]bool{}
		named := object.Child(object.Child(live, "metadata"), "annotations")[object.ReleaseNameAnnotation]
		if named == release {
			o.findDeployers() // an object of another release has another deployer
		}
		if d := deployer(); named == nil && d.Known {
			o.deployers[d.Manager] = true
		}
		o.followMoves(live)
	}
	return o
}

// findDeployers adds the managers that own the release annotation. Every program that uses Helm's library owns it, whatever its name. A
// person's tool may own it after an adoption by hand, but deploys nothing.
func (o *Ownership) findDeployers() {
	for _, owner := range o.OwnersOf(object.Path{}.Field("metadata").Field("annotations").Field(object.ReleaseNameAnnotation)) {
		if owner.Group != report.ManagerPerson {
			o.deployers[owner.Manager] = true
		}
	}
}

// IsDeployer reports whether a manager writes the release itself.
func (o *Ownership) IsDeployer(owner report.Owner) bool {
	o.decodeOnce()
	return o.deployers[owner.Manager] || owner.Group == report.ManagerDeployer
}

// AreDeployersAlone reports whether the release itself wrote the field at path, at one version of the API, and nobody else did.
func (o *Ownership) AreDeployersAlone(path object.Path, version string) bool {
	o.decodeOnce()
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

// IsRecorded reports whether the object records its writers. Controllers sign their status again after somebody has removed all entries, so
// the owners of a status alone are no record.
func (o *Ownership) IsRecorded() bool {
	o.decodeOnce()
	return slices.ContainsFunc(o.entries, func(e Entry) bool { return e.Subresource != "status" })
}

// HasPerson reports whether a person owns the field at path, alone or with others.
func (o *Ownership) HasPerson(path object.Path) bool {
	return o.hasPerson && slices.ContainsFunc(o.OwnersOf(path), func(owner report.Owner) bool { return owner.Group == report.ManagerPerson })
}

// OwnersOf returns the managers that own the field at path or something below it, the latest first. If nobody does, it returns those that
// own, as a whole, the nearest value around it.
func (o *Ownership) OwnersOf(path object.Path) []report.Owner {
	if owners := o.matching(func(s *fieldpath.Set) bool { return OwnsWithin(s, path) }); len(owners) > 0 {
		return owners
	}
	if owners := o.stringDataOwners(path); len(owners) > 0 {
		return owners
	}
	for n := len(path) - 1; n > 0; n-- {
		if owners := o.matching(func(s *fieldpath.Set) bool { return OwnsWhole(s, path[:n]) }); len(owners) > 0 {
			return owners
		}
	}
	return nil
}

// stringDataOwners returns the managers that applied a key of a Secret's data as stringData, except the deployer. The API server records
// stringData as it was sent, and stores it in data (kubernetes v1.36.3 pkg/apis/core/v1/conversion.go Convert_v1_Secret_To_core_Secret).
// The deployer does not own such a key: if its next apply lacks the key, the key stays.
func (o *Ownership) stringDataOwners(path object.Path) []report.Owner {
	sent, ok := SentAsText(path)
	if !o.isSecret || !ok {
		return nil
	}
	return slices.DeleteFunc(o.matching(func(s *fieldpath.Set) bool { return OwnsWithin(s, sent) }), o.IsDeployer)
}

// SentAsText returns the path in stringData for a key in a Secret's data, or false if the path is not such a key.
func SentAsText(path object.Path) (object.Path, bool) {
	if len(path) != 2 || path[0].Name != "data" {
		return nil, false
	}
	return object.Path{}.Field("stringData").With(path[1]), true
}

// matching returns the owners whose fields satisfy a condition, the latest first.
func (o *Ownership) matching(owns func(*fieldpath.Set) bool) []report.Owner {
	o.decodeOnce()
	var out []report.Owner
	for _, e := range o.entries {
		if owns(e.Fields) {
			out = append(out, e.Owner)
		}
	}
	order.Sort(out, laterFirst)
	return out
}

func (o *Ownership) decodeOnce() {
	if o.decode != nil {
		o.decode()
	}
}

// laterFirst orders owners by their time, the latest first, and by name if a time is missing or the same.
func laterFirst(a, b report.Owner) int {
	if a.Time != nil && b.Time != nil && !a.Time.Equal(*b.Time) {
		return b.Time.Compare(*a.Time)
	}
	return cmp.Or(cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Subresource, b.Subresource))
}

// AreSame reports whether two owners are the same writer, whenever they wrote.
func AreSame(a, b report.Owner) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}
