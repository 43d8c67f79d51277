package threeway

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// terminatingNote describes that an object or its namespace is being deleted, and which finalizers delay that; empty if neither is.
func (c *comparer) terminatingNote(ref object.Ref, live map[string]any) string {
	switch {
	case live == nil:
		return ""
	case object.Child(live, "metadata")["deletionTimestamp"] != nil:
		note := "it is being deleted"
		if held := apiserver.FinalizersOf(live); len(held) > 0 {
			note += " and goes when its finalizers are removed (" + strings.Join(held, ", ") + ")"
		}
		return note + "; Helm writes to it as long as it is there, and creates it again only in an upgrade after it has gone"
	case c.in.Terminating[ref.Namespace]:
		return fmt.Sprintf("its namespace %q is being deleted, and it goes with it", ref.Namespace)
	}
	return ""
}

// namespaceTerminating returns the API server's error for a creation in a namespace that is being deleted (apiserver v0.37
// pkg/admission/plugin/namespace/lifecycle/admission.go Admit).
func namespaceTerminating(resource schema.GroupResource, name, namespace string) string {
	return fmt.Sprintf("%v %q is forbidden: unable to create new content in namespace %s because it is being terminated",
		resource, name, namespace)
}

// resourceOf returns the resource of a kind. It is guessed from the kind, which is wrong for a few custom kinds.
func resourceOf(ref object.Ref) schema.GroupResource {
	resource, _ := meta.UnsafeGuessKindToResource(ref.GVK())
	return resource.GroupResource()
}

// recordError begins Helm's error if it cannot store the record of a first revision. It stores it before it creates anything, so a
// namespace among the chart's own objects is created too late (helm v3.22.0 pkg/action/install.go RunWithContext).
const recordError = "create: failed to create: "

// failRecord fails the operation if Helm cannot store the record of the new revision because its namespace is being deleted. Helm
// does that before it writes anything, but after it has looked for what it cannot build or adopt (helm v3.22.0 and v4.3.1
// pkg/action/upgrade.go performUpgrade, install.go RunWithContext, rollback.go Run).
func (c *Comparison) failRecord() {
	in := c.Input
	if in.Records == "" || !in.Terminating[in.StorageNamespace] || anyStopsAll(c.Objects) {
		return
	}
	revision := 1
	if in.Last != nil {
		revision += in.Last.Revision
	}
	record := fmt.Sprintf("sh.helm.release.v1.%s.v%d", in.Name, revision)
	for i := range c.Objects {
		c.Objects[i].fail(scopeRecord, recordError+namespaceTerminating(schema.GroupResource{Resource: in.Records}, record, in.StorageNamespace))
	}
}
