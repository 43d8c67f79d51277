package report

// RuleText is one ignore rule in a file. It has the same keys as Flux's spec.driftDetection.ignore for everything that Flux
// has; docs/ignore.md describes them.
type RuleText struct {
	// Name is the name of the rule in reports; empty means where it was read. A file does not have it.
	Name string `json:"-"`
	// Origin is the controller that has the rule, such as ControllerFlux; empty for the rules of users. A file does not have it.
	Origin string `json:"-"`
	// Paths are JSON pointers with patterns, such as /spec/replicas; "" is the object as a whole.
	Paths []string `json:"paths,omitempty"`
	// Literal is set if Paths are JSON pointers as controllers read them, without patterns. A file does not have it.
	Literal bool `json:"-"`
	// Target selects the objects; nil selects all.
	Target *TargetText `json:"target,omitempty"`
	// Managers restricts the rule to what these field managers wrote. The names may begin or end in *.
	Managers []string `json:"managers,omitempty"`
	// Releases restricts the rule to releases with these names.
	Releases []string `json:"releases,omitempty"`
	// Conflicts also silences the failure of the operation on the object, as long as rules silence each conflict that causes it.
	Conflicts bool   `json:"conflicts,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Expires is the last day of the rule, such as 2027-01-31.
	Expires string `json:"expires,omitempty"`
}

// TargetText selects objects. The first five are regular expressions; the selectors have kubectl's syntax. An empty field selects
// everything.
type TargetText struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	Name               string `json:"name,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}
