package fleet

import (
	"hash/fnv"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Selection says which releases are compared. Every condition that is set must hold.
type Selection struct {
	// Namespace is the namespace of the records. It is empty for all namespaces.
	Namespace string
	// Fallback is the namespace to search if the role does not allow searching all.
	Fallback string
	// Names are names of releases; Filter and Exclude match names.
	Names           []string
	Filter, Exclude *regexp.Regexp
	// Labels selects by the labels of the last record of a release, as helm list does (helm v3.22.0 pkg/action/list.go filterSelector).
	Labels labels.Selector
	// Statuses selects by the status of the last revision. If it is empty, it selects every release that was not uninstalled.
	Statuses []string
	// Shard selects one part of the releases; nil selects all.
	Shard *report.Shard
}

// selects reports whether a release of the cluster is selected. Without Statuses, a release in Names is selected whatever its status. If
// the revision of a record is not known, neither is which record is the last, and no label and no status leaves the release out.
func (s Selection) selects(cluster string, r Released) bool {
	last, isKnown := r.Last, r.Problem == nil
	switch {
	case len(s.Names) > 0 && !slices.Contains(s.Names, last.Release),
		s.Filter != nil && !s.Filter.MatchString(last.Release),
		s.Exclude != nil && s.Exclude.MatchString(last.Release),
		isKnown && s.Labels != nil && !s.Labels.Matches(labels.Set(last.Labels)),
		s.Shard != nil && shardOf(cluster, last.Namespace, last.Release, s.Shard.Count) != s.Shard.Index:
		return false
	case !isKnown:
		return true
	case len(s.Statuses) > 0:
		return slices.Contains(s.Statuses, last.Status)
	}
	return len(s.Names) > 0 || last.Status != statusUninstalled
}

// isWhole reports whether the selection takes every release that is installed.
func (s Selection) isWhole() bool {
	return len(s.Names)+len(s.Statuses) == 0 && s.Filter == nil && s.Exclude == nil && s.Labels == nil && s.Shard == nil
}

// selectsName reports whether a release without records would be selected. It has neither labels nor a status.
func (s Selection) selectsName(cluster string, named object.ReleaseName) bool {
	s.Statuses = nil
	return s.Labels == nil && s.selects(cluster, Released{Last: release.Listed{
		Entry: release.Entry{Release: named.Name}, Namespace: named.Namespace,
	}})
}

// statusUninstalled is the status of a release whose history was kept by helm uninstall --keep-history. Nothing of it is deployed.
const statusUninstalled = "uninstalled"

// shardOf returns the part of count parts that a release belongs to. It depends on nothing but its arguments, so that the processes that
// share the work agree: the 64-bit FNV-1a hash of cluster/namespace/name modulo count.
func shardOf(cluster, namespace, name string, count int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(cluster + "/" + namespace + "/" + name)) // a hash never fails
	return int(h.Sum64() % uint64(count))                          //nolint:gosec // count is at least 1, and the result is below it
}
