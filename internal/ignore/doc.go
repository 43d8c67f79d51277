// Package ignore has the rules by which people say which differences they accept. A rule silences a finding after it was made: the finding
// stays in the report, named with the rule, counts for nothing, and a fix leaves it alone. So the order of rules does not matter, and
// ignoring one item of a list shifts no other.
//
//	.helmdrift.yaml, flags, the HelmRelease of Flux ─► ReadRules ─┐
//	ignores.yaml ─► BuiltInRules ─────────────────────────────────┴► []Rule
//	                                                                   │
//	an object, and its own annotations ─► ForObject ─► ObjectRules ◄───┘
//	                                                     ├─ Field, Inside: the rule that silences a finding
//	                                                     └─ Object, Conflicts: the rule that silences what becomes of the whole object
//	a whole release ─► Idle: warnings of rules that match nothing
//
// A [Pattern] is a JSON pointer in which * stands for any name and [name=web] for an item of a list. Paths and targets are written as
// Flux writes them, so that rules can be moved between the two (github.com/fluxcd/helm-controller v1.6, github.com/fluxcd/pkg/apis/kustomize).
//
// A rule that would silence everything is refused ([ErrSelectsEverything]): it is misspelt, or not meant for this release.
package ignore
