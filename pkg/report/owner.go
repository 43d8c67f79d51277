package report

import "time"

// Owner is the field manager that last wrote a live value, from metadata.managedFields. Manager names are
// self-declared: evidence, not proof. Some writes carry no time.
type Owner struct {
	Manager string `json:"manager"`
	// Group says what kind of writer it is known to be; empty where nothing is known.
	Group       ManagerGroup `json:"group,omitempty"`
	Operation   string       `json:"operation,omitempty"`
	Subresource string       `json:"subresource,omitempty"`
	Time        *time.Time   `json:"time,omitempty"`
}

// ManagerGroup says what kind of writer a field manager is.
type ManagerGroup string

// The groups. A manager that no table names is unknown, and its edits are shown like a person's.
const (
	ManagerDeployer   ManagerGroup = "deployer"
	ManagerPerson     ManagerGroup = "person"
	ManagerController ManagerGroup = "controller"
	ManagerUnknown    ManagerGroup = ""
)
