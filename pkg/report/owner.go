package report

import "time"

// Owner is a field manager that owns a live value, from metadata.managedFields. Clients choose their manager names themselves, so a name
// is evidence, not proof.
type Owner struct {
	// Manager is what the writer called itself.
	Manager string `json:"manager"`
	// Group is the kind of writer that the manager is known to be; empty if it is not known.
	Group ManagerGroup `json:"group,omitempty"`
	// Operation is "Apply" for a server-side apply, or "Update". Subresource is that through which it wrote, such as scale.
	Operation   string `json:"operation,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	// Time is when the manager last wrote any of its fields of the object; nil if the entry has no time.
	Time *time.Time `json:"time,omitempty"`
}

// ManagerGroup is the kind of writer that a field manager is.
type ManagerGroup string

// The groups. A manager that no table names is unknown, and its edits are reported like a person's.
const (
	ManagerDeployer   ManagerGroup = "deployer"
	ManagerPerson     ManagerGroup = "person"
	ManagerController ManagerGroup = "controller"
	ManagerUnknown    ManagerGroup = ""
)
