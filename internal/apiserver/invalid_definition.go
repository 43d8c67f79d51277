package apiserver

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// storedVersionsReason tells of a CustomResourceDefinition that loses a version in which objects may still be stored, which a chart or
// a rollback comes to that goes back beyond it (apiextensions-apiserver v0.37.1 pkg/apis/apiextensions/validation
// ValidateCustomResourceDefinitionStoredVersions).
func storedVersionsReason(u Update) string {
	if u.Ref.GroupKind().String() != "CustomResourceDefinition.apiextensions.k8s.io" {
		return ""
	}
	stored, _ := object.Child(u.Text, "status")["storedVersions"].([]any)
	versions := kinds.Items(object.Child(u.Result, "spec"), "versions")
	var faults []string
	for i, name := range stored {
		if slices.ContainsFunc(versions, func(version map[string]any) bool { return version["name"] == name }) {
			continue
		}
		detail := fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, and must remain in spec.versions until a "+
			"storage migration ensures no data remains persisted in %[1]s and removes %[1]s from status.storedVersions", name)
		faults = append(faults, field.Invalid(field.NewPath("status", "storedVersions").Index(i), name, detail).Error())
	}
	if len(faults) == 0 {
		return ""
	}
	return invalidObject(u.Ref, faults)
}
