package report

import "time"

// Owner is a field manager that owns a live value, from metadata.managedFields. Clients choose their manager names themselves, so a name
// is evidence, not proof. Some entries have no time.
type Owner struct {
	Manager string `json:"manager"`
	// Group is the kind of writer that the manager is known to be; empty if it is not known.
	Group       ManagerGroup `json:"group,omitempty"`
	Operation   string       `json:"operation,omitempty"`
	Subresource string       `json:"subresource,omitempty"`
	Time        *time.Time   `json:"time,omitempty"`
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
