package apiserver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// MetadataWrite is a write of metadata that the API server itself sets. A chart has such metadata if it was pasted from an object of a
// cluster. The server ignores creationTimestamp, generation and selfLink (apiserver v0.36.3 pkg/registry/rest/update.go BeforeUpdate,
// apimachinery v0.36.3 pkg/api/validation/objectmeta.go ValidateObjectMetaAccessorUpdate).
type MetadataWrite struct {
	Ref      object.Ref
	Resource schema.GroupResource
	// Live and Result are the object before and after the write, as texts. Live is nil if an apply creates the object.
	Live, Result map[string]any
	// WantsVersion is set if the server takes no update of the kind without a resourceVersion. Replaces is set if Helm replaces the
	// object: Helm then sends live's resourceVersion if the manifest has none.
	WantsVersion, Replaces bool
}

// immutableMetadata are the fields of the metadata that no write may change. The server compares the resourceVersion for another reason.
var immutableMetadata = []string{"uid", "deletionTimestamp", "deletionGracePeriodSeconds"}

// IsFixedMetadata reports whether the API server refuses a write that changes a field of the metadata.
func IsFixedMetadata(name string) bool {
	return name == "resourceVersion" || slices.Contains(immutableMetadata, name)
}

// Refused returns the server's error, or "" if it accepts the metadata.
func (w MetadataWrite) Refused() string {
	was, is := object.Child(w.Live, "metadata"), object.Child(w.Result, "metadata")
	if reason := w.versionReason(was["resourceVersion"], is["resourceVersion"]); reason != "" {
		return reason
	}
	if w.Live == nil {
		if is["uid"] == nil {
			return ""
		}
		return w.conflict(fmt.Sprintf("uid mismatch: the provided object specified uid %v, and no existing object was found", is["uid"]))
	}
	var refused field.ErrorList
	for _, name := range immutableMetadata {
		if is[name] != nil && is[name] != "" && !object.Equal(was[name], is[name]) {
			refused = append(refused, field.Invalid(field.NewPath("metadata", name), is[name], validation.FieldImmutableErrorMsg))
		}
	}
	return faultsReason(w.Ref, refused)
}

// versionReason returns the server's error about the resourceVersion (apiserver v0.36.3 pkg/registry/generic/registry/store.go Update). An
// apply that creates the object only parses it.
func (w MetadataWrite) versionReason(was, is any) string {
	text, _ := is.(string)
	version := uint64(0)
	if text != "" {
		var err error
		if version, err = strconv.ParseUint(text, 10, 64); err != nil {
			return err.Error()
		}
	}
	switch {
	case w.Live == nil || object.Equal(was, is) || w.Replaces && text == "":
		return ""
	case version != 0:
		return w.conflict("the object has been modified; please apply your changes to the latest version and try again")
	case w.WantsVersion:
		return fmt.Sprintf("%s %q is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update",
			w.Resource, w.Ref.Name)
	}
	return ""
}

// conflict returns the server's error for a conflict that is not about field managers.
func (w MetadataWrite) conflict(reason string) string {
	return apierrors.NewConflict(w.Resource, w.Ref.Name, errors.New(reason)).Error()
}

// FinalizersOf lists the finalizers that keep an object from being removed.
func FinalizersOf(obj map[string]any) []string {
	return object.Texts(object.Child(obj, "metadata")["finalizers"])
}

// finalizersReason returns the reason why the API server refuses finalizers that are added to an object that is being deleted
// (apimachinery v0.37 pkg/api/validation/objectmeta.go ValidateObjectMetaAccessorUpdate).
func finalizersReason(u Update) string {
	if object.Child(u.Text, "metadata")["deletionTimestamp"] == nil {
		return ""
	}
	at := field.NewPath("metadata", "finalizers")
	return faultsReason(u.Ref, validation.ValidateNoNewFinalizers(FinalizersOf(u.Result), FinalizersOf(u.Text), at))
}

// faultsReason returns the server's error for an object with faults, or "" if it has none.
func faultsReason(ref object.Ref, faults field.ErrorList) string {
	if len(faults) == 0 {
		return ""
	}
	return apierrors.NewInvalid(ref.GroupKind(), ref.Name, faults).Error()
}

// LostJobLabels returns the reason why the API server refuses a write of a Job that takes the server's own labels from the template. It is
// empty if the template keeps them. That happens if a chart drops the last label or annotation of the template: Helm then removes the
// whole map. Live and result are the texts before and after the write (kubernetes v1.36.3 pkg/apis/batch/validation/validation.go
// validateGeneratedSelector).
func LostJobLabels(key object.Key, live, result map[string]any) string {
	if key.Group != "batch" || key.Kind != "Job" || object.Child(result, "spec")["manualSelector"] == true {
		return ""
	}
	left := kinds.TemplateLabels(result)
	for _, name := range object.SortedKeys(kinds.TemplateLabels(live)) {
		isServers := name == "controller-uid" || name == "job-name" || strings.HasPrefix(name, "batch.kubernetes.io/")
		if isServers && left[name] == nil {
			return "spec.template.metadata.labels may not lose " + name + ", which the API server has set: helm removes the whole map, because " +
				"the chart names none of it any more"
		}
	}
	return ""
}
