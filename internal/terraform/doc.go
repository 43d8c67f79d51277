// Package terraform says what Terraform does next with the releases of a plan, and what to compare for that. It is a guest: it imports the
// core, and only cmd/helmdrift knows it.
//
//	plan as JSON ─► Read, in a child process ─► for each helm_release: arguments, values, secrets, what is not known
//	                                                                      │
//	the records of Helm ──────────────────────────────────────────────────┼─► decide ─► Deployer
//	                                                                      ▼
//	                                        the target and the options of a comparison: Step.Target, Step.Adapt
//
// [Read] reads what "terraform show -json PLANFILE" prints; OpenTofu prints the same form. It composes the values as the provider does,
// without a cluster. [New] reads the records of one release and decides what the provider does with it. The caller compares the target of
// the [Step], and [Step.Finish] adds the decision to the report. What cannot be predicted is an error of the report, so that such a report
// is never clean. [Fleet.Compare] does that for many releases.
//
// The provider calls Helm 3 as a library and applies client-side, whatever wrote the last revision. A release that the plan leaves alone is
// compared all the same: Terraform looks at its arguments, and not at its objects.
//
// # Values that are not known
//
// A plan lacks values that only the apply computes. A text, unknown.Any, stands for each of them, and fields that have it are of class
// unknown. If such a value may be any part of the values, the release is incomplete.
//
// # Secrets
//
// Every text that the plan marks as sensitive becomes a known secret. No error of this package quotes a value of the plan.
//
// # Tests
//
// The plans in testdata/read have the forms of versions 2 and 3 of the provider, and say what Read finds in each of them. OpenTofu and the
// provider made those whose names say so. The story terraform in test/e2e compares plans with a cluster, and TestTerraform there lets
// OpenTofu and the provider do what the plans say.
package terraform
