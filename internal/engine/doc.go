// Package engine predicts Helm's writes: live after Helm's own patch. It does not reimplement any merge rule. Each engine calls the
// library that Helm, or the API server, calls for the same purpose, on the texts as they are.
//
//	original, desired, live ─► Writer.Write ─┬─ strategic   three-way strategic merge patch: kinds of Helm's native scheme
//	                                         ├─ merge       JSON merge patch from original to desired: all other kinds
//	                                         ├─ replace     desired instead of live: helm upgrade --force
//	                                         └─ apply       server-side apply: the API server's own field manager,
//	                                                │       run on live's managedFields
//	                                                └─► Written: the result, conflicts, what the server refuses, and Uncertainties
//
// # Certainty
//
// An apply depends on what managers wrote at other versions of the API, and on the name of Helm's field manager. If the outcome
// depends on state that cannot be read, an [Uncertainty] says why, and which verdicts it affects.
//
// # Sources
//
// helm v3.22.0 pkg/kube/client.go (createPatch, updateResource, Create), v4.3.1 pkg/kube/client.go (patchResourceServerSide,
// replaceResource, upgradeClientSideFieldManager). k8s.io/apimachinery v0.37 pkg/util/strategicpatch, jsonmergepatch, managedfields;
// client-go csaupgrade.
//
// # Tests
//
// The tests beside this file have what each engine does with a field; pkg/threeway runs the files of testdata/threeway and
// testdata/conformance, where a whole object is patched, and test/e2e compares the predictions with what Helm and an API server do.
package engine
