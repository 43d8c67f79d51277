package repair

import (
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// A release record is only a claim: whoever may write Secrets in a namespace can write a record that names any object of the cluster. A
// copied record, or a chart with the object names of another release, can name them too. And whoever runs a fix may often write
// everywhere. So the record decides only in the release's own namespace. Elsewhere, and for cluster-scoped objects, the annotations that
// Helm has left on the live object decide, and creation needs confirmation. Even in its own namespace, the release does not touch what
// another release has taken over.

// Cluster stands for cluster-scoped objects among the namespaces of Options.Allow.
const Cluster = "cluster"

// isOutside reports whether an object is in another namespace than the release, or in none.
func (p *planner) isOutside(key object.Key) bool {
	return key.Namespace != p.plan.comparison.Input.Namespace
}

// place returns the word in Options.Allow for the place of an object outside of the release's namespace. It is empty if there is none, as
// for a namespace with the same name as Cluster.
func place(key object.Key) string {
	switch key.Namespace {
	case "":
		return Cluster
	case Cluster:
		return ""
	}
	return key.Namespace
}

// whyNotOurs returns why an existing object does not belong to the release, so that nothing is written to it. It is empty if it
// belongs.
func (p *planner) whyNotOurs(o *threeway.ObjectComparison) string {
	in := p.plan.comparison.Input
	named := object.ReleaseOf(in.Live[o.Ref].Object)
	other := in.Others[named]
	switch {
	case named == in.Release():
	case p.isOutside(o.Key):
		return fmt.Sprintf("its annotations do not name this release, and it is outside of namespace %s", in.Namespace)
	case p.choice.names(o.Key):
	case other.Exists:
		return fmt.Sprintf("it belongs to release %s in namespace %s; --only %s/%s takes it over", named.Name, named.Namespace, o.Kind, o.Name)
	case other.Problem != "":
		return fmt.Sprintf("it may belong to release %s in namespace %s: %s; --only %s/%s takes it over",
			named.Name, named.Namespace, other.Problem, o.Kind, o.Name)
	}
	return ""
}

// whyNotCreatedOutside returns why a missing object is not created outside of the release's namespace, or "" if it is.
func (p *planner) whyNotCreatedOutside(key object.Key) string {
	at := place(key)
	switch {
	case p.Asks || !p.isOutside(key) || at != "" && slices.Contains(p.Allow, at):
		return ""
	case at == "":
		return p.beyond(key) + "; fix creates it after a yes at a terminal"
	}
	return p.beyond(key) + "; --allow-namespace " + at + " allows fix to create it"
}

// beyond says that an object is outside of the release's namespace.
func (p *planner) beyond(key object.Key) string {
	if key.Namespace == "" {
		return "it is missing, and belongs to no namespace"
	}
	return "it is missing, and outside of namespace " + p.plan.comparison.Input.Namespace
}

// neverDeployed returns why nothing of a failed revision is created if no revision was ever deployed, or "" for any other. Its objects
// may never have existed, and creating them would repeat the failed installation without its hooks. Helm starts from a failed revision
// only if there is no deployed one (helm v3.22.0 pkg/action/upgrade.go prepareUpgrade).
func (p *planner) neverDeployed(o *threeway.ObjectComparison) string {
	old := p.plan.comparison.Input.Old
	if old == nil || old.Status != "failed" || p.Revision || p.choice.isNamed(o.Key) {
		return ""
	}
	return fmt.Sprintf("revision %d failed and no revision is deployed, so it may never have existed; --only %s/%s creates it, "+
		"--revision %[1]d all that is missing", old.Revision, o.Kind, o.Name)
}
