// Package argocd predicts what a sync of Argo CD makes of a live object. Argo CD does not call Helm's library: it renders manifests and
// writes them as kubectl would, so the patch is another one than Helm's.
//
//	no option           ─► the patch of kubectl apply: original is the annotation last-applied-configuration of live
//	ServerSideApply     ─► earlier client-side owners are handed over ─► an apply that forces conflicts ─► kubectl hands over the owner of
//	                       the annotation and applies again
//	Replace             ─► the object itself
//
// A three-way patch removes a field that Argo CD applied and desired no longer has. It leaves a field that nobody applied. Unlike Helm,
// Argo CD patches custom resources so too, and a sync puts back what somebody edited there.
//
// The sources are gitops-engine v3.6.1 pkg/sync/sync_context.go applyObject and pkg/utils/kube/resource_ops.go
// ApplyResource, and kubectl v0.37 pkg/cmd/apply. The real Argo CD judges the predictions: "make argocd".
package argocd
