package layout

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Orphan names an object that no manifest has any more, and says why: "ConfigMap prod/old of web", "revision 3 (superseded) had it last".
// InCluster adds the name of the cluster.
func (s Style) Orphan(o report.Orphan, inCluster bool) (name, said string) {
	of := s.Label(o.Release)
	if o.ReleaseNamespace != o.Namespace {
		of += " in " + s.Label(o.ReleaseNamespace)
	}
	return s.claimed(o.ClaimedObject) + " of " + of + s.onCluster(o.ClaimedObject, inCluster), s.Escape(reason(o))
}

// reason says why no manifest has an object, without the names of the object and of the release.
func reason(o report.Orphan) string {
	var said Clauses
	had := "no stored revision has it"
	if r := o.Revision; r != nil {
		had = fmt.Sprintf("revision %d", r.Revision)
		if r.Status != "" {
			had += " (" + r.Status + ")"
		}
		had += " had it last"
	}
	switch o.Reason {
	case report.OrphanUninstalled:
		said = append(said, "the release was uninstalled", had)
	case report.OrphanNoRelease:
		said = append(said, "the release has no records")
	default:
		said = append(said, had)
	}
	said.AddNonEmpty(o.Problem)
	said.AddIf(o.Kept, "kept: helm.sh/resource-policy")
	return strings.Join(said, "; ")
}

// Overlap names an object and the deployers that claim it: "Service prod/web", "release web in prod, Application shop in argocd".
func (s Style) Overlap(o report.Overlap, inCluster bool) (name, said string) {
	var claims []string
	for _, c := range o.Claims {
		said := s.Word(c.Kind) + " " + s.Label(c.Name)
		if c.Kind == report.ClaimRelease {
			said = "release " + s.Label(c.Name)
		}
		if c.Namespace != "" {
			said += " in " + s.Label(c.Namespace)
		}
		claims = append(claims, said)
	}
	return s.claimed(o.ClaimedObject) + s.onCluster(o.ClaimedObject, inCluster), strings.Join(claims, ", ")
}

// claimed names an object with its namespace.
func (s Style) claimed(o report.ClaimedObject) string {
	return s.ObjectName(report.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, report.Release{})
}

// onCluster returns the cluster of an object behind its name, if the cluster is known and wanted.
func (s Style) onCluster(o report.ClaimedObject, isWanted bool) string {
	if !isWanted || o.Cluster == "" {
		return ""
	}
	return " on " + s.Label(o.Cluster)
}
