// Package argo says what the next sync of an Application of Argo CD writes, and what to compare for that. It is a guest: it imports the
// core, and only cmd/helmdrift knows it.
//
//	Application ─┬► internal/argo/source: folders, values ─► renderAll: namespaces, marks ─► desired ──┐
//	             ├► status.resources, live ─► findDeployed: applied, rendered or owned ─► old ────────┼─► a comparison: Plan.Target,
//	             │  status.history ─► renderLast: the sources of the last sync ─┘                     │                 Plan.Adapt
//	             ├► syncOptions ─► internal/engine/argocd ─► what a sync writes ──────────────────────┘        │
//	             ├► ignoreDifferences, argocd-cm ─► internal/argo/ignored ─► left, rules                       ▼
//	             └► syncPolicy, AppProject, operationState ───────────────────────────────────────────────► decide ─► Deployer
//
// [New] reads all of that and returns a [Plan]. The caller compares its target, and [Plan.Finish] adds the decision to the report. It names
// what cannot be predicted as an error of the report, so that such a report is never clean.
//
// # Old
//
// Argo CD stores no record of what it deployed. Old is, for each object, the annotation of its client-side apply, or what the sources of
// the last sync made at their revisions, or the fields that Argo CD still owns. The report says which. The prediction of a sync needs none
// of them, so the sources of the last sync are fetched only if they explain a difference.
//
// # Trust
//
// An Application names addresses and paths that its author chose. Nothing outside of a fetched repository is read, no plugin and no jsonnet
// runs, and link-local addresses are refused (package address). Charts are rendered and kustomizations built by the functions of the
// [Question], which the caller runs in a child process within limits. Lookups find nothing, as in Argo CD.
//
// # Tests
//
// The files of this folder test the values, the decision and the windows, and testdata/kustomize has kustomizations with what the
// repo-server makes of them. The stories argo-applied, argo-owned, argo-last, argo-recreated and argo-kustomize run without Argo CD, and
// test/argocd/story compares predictions with what the real Argo CD does.
package argo
