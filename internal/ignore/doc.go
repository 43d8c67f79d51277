// Package ignore has the rules that say which differences people accept. A rule silences a finding after the comparison: the finding stays
// in the report with the name of the rule, does not count as drift, and a fix leaves it. So the order of rules does not matter, and
// ignoring one item of a list does not shift the others.
//
//	.helmdrift.yaml, flags, the HelmRelease of Flux ─► ReadRules ─┐
//	ignores.yaml ─► BuiltInRules ─────────────────────────────────┴► []Rule
//	                                                                   │
//	an object, and its own annotations ─► ForObject ─► ObjectRules ◄───┘
//	                                                     ├─ Field, FieldByParts: the rule that silences a finding
//	                                                     └─ Object, Conflicts: the rule that silences what is said of the whole object
//	all objects of a release ─► IdleWarnings: rules that match nothing
//
// A [Pattern] is a JSON pointer. In it, * stands for any name, and [name=web] for an item of a list. Paths and targets are written as Flux
// writes them, so that rules can be moved between the two (github.com/fluxcd/helm-controller v1.6, github.com/fluxcd/pkg/apis/kustomize).
//
// A rule that would silence everything is refused ([ErrSelectsEverything]), because it is misspelt, or not meant for this release.
package ignore
