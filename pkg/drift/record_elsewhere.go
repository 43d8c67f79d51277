package drift

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/helmrelease"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// recordElsewhere returns a warning if the record is not stored in the namespace that it names. Flux can store records apart from the
// objects, and its HelmRelease says so. Any other such record is probably a copy, for example from a backup that was restored into
// another namespace, and the objects that it names belong to the original release.
//
// Helm itself uses both namespaces: templates and the release annotations get the record's, and objects without a namespace of their own
// go to the one that helm was called with (helm v3.22.0 pkg/action/upgrade.go prepareUpgrade and pkg/kube/client.go newBuilder, helm
// v4.3.1 the same; rollback.go too). An Application of Argo CD has no record.
func (r run) recordElsewhere(ctx context.Context, in threeway.Input) []report.Message {
	if in.Old == nil || in.Namespace == in.StorageNamespace || in.By.Syncs() {
		return nil
	}
	isFlux, err := r.isFluxStorage(ctx, in)
	if isFlux {
		return nil
	}
	unread := ""
	if err != nil {
		unread = ". Whether Flux keeps it apart could not be read: " + err.Error()
	}
	return []report.Message{{Code: report.WarnRecordElsewhere, Message: fmt.Sprintf(
		"the record in namespace %s says that the release is in %s, and no object says that Flux keeps the record apart, so it may be a copy; "+
			"what is compared are the objects in %s, where helm upgrade -n %s would put objects without a namespace of their own into %s",
		in.StorageNamespace, in.Namespace, in.Namespace, in.StorageNamespace, in.StorageNamespace) + unread}}
}

// RecordElsewhere reports whether the comparison warns that the release record may be a copy, because it is not stored in the namespace
// that it names. A program should ask before it writes to that namespace.
func (r *Result) RecordElsewhere() bool {
	return slices.ContainsFunc(r.Comparison.Input.Warnings, func(m report.Message) bool { return m.Code == report.WarnRecordElsewhere })
}

// isFluxStorage reports whether Flux stores the records of the release where they were found: in the namespace of the HelmRelease that the
// objects name, or in the storage namespace of that HelmRelease. Only the labels of a live object of this release prove that. Whoever
// forges a record writes the labels in its manifest too, and may write a HelmRelease, also its status: the role flux-edit of Flux allows
// it. If the HelmRelease could not be read, isFluxStorage returns the error.
func (r run) isFluxStorage(ctx context.Context, in threeway.Input) (bool, error) {
	ours := object.Filter(liveObjects(in), func(o object.Object) bool {
		return o.Namespace == in.Namespace && object.ReleaseOf(o.Content) == in.Release()
	})
	name, namespace := helmrelease.Owner(ours)
	if name == "" || namespace == in.StorageNamespace {
		return name != "", nil
	}
	storage, target, err := helmrelease.Namespaces(ctx, r.connection.Cluster, name, namespace)
	return err == nil && storage == in.StorageNamespace && target == in.Namespace, err
}

// liveObjects returns the live objects of the release, without those that are missing.
func liveObjects(in threeway.Input) (out []object.Object) {
	for _, o := range in.OldObjects {
		if live := in.Live[o.Ref].Object; live != nil {
			out = append(out, object.Object{Ref: o.Ref, Content: live})
		}
	}
	return out
}
