package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// ObjectKey identifies an object in a report. In JSON it is the text of [object.Key.String], such as "Deployment.apps prod/web".
type ObjectKey struct{ object.Key }

// MarshalText returns the text of the key.
func (k ObjectKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the text of a key in a saved report. No other code parses keys. The text is unambiguous for every key that the API
// server accepts: a kind has no dot, a group and a namespace have neither blank nor slash, and a name has no slash.
func (k *ObjectKey) UnmarshalText(text []byte) error {
	kind, name, found := strings.Cut(string(text), " ")
	if !found {
		return fmt.Errorf("%q is not the key of an object, such as %q", text, "Deployment.apps prod/web")
	}
	namespace := ""
	if before, after, namespaced := strings.Cut(name, "/"); namespaced {
		namespace, name = before, after
	}
	kind, group, _ := strings.Cut(kind, ".")
	k.Key = object.Key{Group: group, Kind: kind, Namespace: namespace, Name: name}
	return nil
}

// CustomVersions are the API versions of the objects of custom kinds that a document names by their keys, such as "shop.example.com/v1".
// They are for people, and not part of the JSON: two versions of an object are one object.
type CustomVersions map[ObjectKey]string

// Add adds the version of an object if its kind is custom.
func (v CustomVersions) Add(key ObjectKey, apiVersion string, engine Engine) {
	if key.IsCustom() || engine == EngineMerge {
		v[key] = apiVersion
	}
}

// IsCustom reports whether readers may need the group to know the kind. The groups of Kubernetes have no dot or end in k8s.io. If the
// group of a custom resource does too, its engine shows that it is custom.
func (k ObjectKey) IsCustom() bool {
	return strings.Contains(k.Group, ".") && !strings.HasSuffix(k.Group, ".k8s.io")
}

// Owner is a field manager that owns a live value, from metadata.managedFields. Clients choose their manager names themselves, so a name
// is evidence, not proof.
type Owner struct {
	// Manager is the name that the writer gave itself.
	Manager string `json:"manager"`
	// Group is the kind of writer. It is empty if the kind is not known.
	Group ManagerGroup `json:"group,omitempty"`
	// Operation is "Apply" for a server-side apply, or "Update". Subresource is the subresource that it wrote through, such as scale.
	Operation   string `json:"operation,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	// Time is when the manager last wrote any of its fields of the object. It is nil if the entry has no time.
	Time *time.Time `json:"time,omitempty"`
}

// ManagerGroup is a kind of field manager.
type ManagerGroup string

// These are the groups. A manager that no table names is unknown, and its edits are reported like a person's.
const (
	ManagerDeployer   ManagerGroup = "deployer"
	ManagerPerson     ManagerGroup = "person"
	ManagerController ManagerGroup = "controller"
	ManagerUnknown    ManagerGroup = ""
)
