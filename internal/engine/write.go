package engine

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Writer predicts the writes of one release.
type Writer struct {
	// ServerSide is set for a release that is applied server-side. ForceConflicts lets an apply take over fields that others own. If
	// Migrates is set, Helm first turns its own earlier client-side writes into an apply.
	ServerSide, ForceConflicts, Migrates bool
	// ForceReplace is Helm's --force: live objects are replaced, not patched.
	ForceReplace bool
	// ThreeWayMerge lets the merge engine look at live too. Helm4 is set if Helm 4 writes: it links another library for merge patches, and
	// lets the server reject a replacement with unknown fields.
	ThreeWayMerge, Helm4 bool
	// Schemas holds the schemas of custom kinds from their CRDs, and ApplyTypes the types for server-side applies of custom resources.
	Schemas    map[schema.GroupKind]*kinds.CustomSchema
	ApplyTypes map[schema.GroupVersion]*ApplyTypes
	// PlainStatus has the kinds that discovery lists without a status subresource.
	PlainStatus map[schema.GroupVersionKind]bool
	// Deployer finds the name of Helm's field manager.
	Deployer func() owners.Deployer
	// By is who deploys, if it is not the helm command.
	By *Deployment
}

// ShapeOf returns the shape of a kind: native, from its CRD, or only metadata.
func (c Writer) ShapeOf(ref object.Ref) *kinds.Shape {
	return kinds.ShapeOf(ref, c.Schemas[ref.GroupKind()], c.PlainStatus[ref.GVK()])
}

// Written is the outcome of Helm's write to a live object.
type Written struct {
	Engine report.Engine
	// Result is live after the write or, if an apply conflicts, after a forced one.
	Result map[string]any
	// Conflicts are those of an apply, and Refusal is the server's text about them.
	Conflicts []Conflict
	Refusal   string
	// Uncertainties are the reasons why parts of the result are not certain.
	Uncertainties []Uncertainty
	// Invalid is the API server's message if it rejects the result.
	Invalid string
	// Kept is the path of an autoscaler's metrics if the apply drops them and the API server keeps them. It is nil for most objects.
	Kept object.Path
	// WantsSchema is set if the definition of a custom kind would make the prediction better.
	WantsSchema bool
}

// Write predicts Helm's write of desired over live, with the engine of the release. Original is the text that a client-side
// patch takes as old.
func (c Writer) Write(ref object.Ref, original, desired, live map[string]any) (Written, error) {
	if c.By.Syncs() {
		return c.By.Sync.Write(c, ref, desired, live)
	}
	if c.ServerSide {
		return c.Apply(ref, desired, live)
	}
	if c.ForceReplace {
		return c.Replace(desired), nil
	}
	engine := c.clientSide(ref, desired)
	result, err := engine.result(original, desired, live, c.ShapeOf(ref))
	return Written{Engine: engine.Engine, Result: result}, err
}

// Apply predicts a server-side apply of desired over live, with the field manager of the Writer.
func (c Writer) Apply(ref object.Ref, desired, live map[string]any) (Written, error) {
	out := Written{Engine: report.EngineApply}
	if len(apiserver.Unreadable(desired, nil)) > 0 {
		return out, applyFailed(ref, apiserver.ErrUnreadable)
	}
	deployer := c.Deployer()
	original := live
	live, taken := c.liveBeforeApply(ref.GVK(), original, deployer.Manager)
	types, uncertainties, err := c.typesOf(ref, desired, live)
	if err != nil && types.canRead(desired) {
		return out, applyFailed(ref, err)
	}
	if c.hasUndeclared(ref, desired) {
		return out, applyFailed(ref, cmp.Or(c.undeclaredError(ref, desired), errors.New(notDeclared)))
	}
	apply, err := newServerSide(types, deployer.Manager)
	if err != nil {
		return out, err
	}
	if out, err = apply.result(desired, live, c.ForceConflicts); err != nil {
		if strings.Contains(err.Error(), notDeclared) { // structured-merge-diff has no type for it
			err = cmp.Or(c.undeclaredError(ref, desired), err)
		}
		return out, applyFailed(ref, err)
	}
	out.orderMetrics(ref, deployer.Manager, live)
	reason, asks := apiserver.NullsReason(c.Schemas[ref.GroupKind()], ref, live, out.Result)
	if out.WantsSchema = asks; reason != "" {
		out.Invalid = applyFailed(ref, errors.New(reason)).Error()
	}
	out.WantsSchema = out.WantsSchema || len(types.guessed) > 0 || desired["status"] != nil
	out.Uncertainties = append(uncertainties, apply.uncertainties(desired, live, c.ForceConflicts, out)...)
	out.Uncertainties = append(out.Uncertainties, apply.takenOver(taken, desired, original, c.ForceConflicts)...)
	out.Uncertainties = append(out.Uncertainties, c.otherDeployers(apply, desired, original, out)...)
	out.keepMetrics(ref, live)
	return out, nil
}

// ApplyNew predicts the apply with which Helm creates an object that exists already: never with force, and without turning Helm's earlier
// writes into an apply (helm v4.3.1 pkg/kube/client.go makeCreateApplyFunc).
func (c Writer) ApplyNew(ref object.Ref, desired, live map[string]any) (Written, error) {
	c.ForceConflicts, c.Migrates = false, false
	return c.Apply(ref, desired, live)
}

// applyFailed returns Helm's error for an apply that the server rejects (helm v4.3.1 pkg/kube/client.go patchResourceServerSide).
func applyFailed(ref object.Ref, err error) error {
	return fmt.Errorf("server-side apply failed for object %s/%s %s: %s", ref.Namespace, ref.Name, ref.GVK(), applyFault(err))
}

// hasUndeclared reports whether a manifest has fields that the definition of its kind does not have, if the types for applying it are not
// known. The field manager does not find these fields then.
func (c Writer) hasUndeclared(ref object.Ref, desired map[string]any) bool {
	definition := c.Schemas[ref.GroupKind()]
	_, known := c.ownTypes(ref.GVK())
	return !known && definition != nil && len(undeclared(definition, ref.Version, desired)) > 0
}

// undeclaredError returns the server's error for the fields of a manifest that the kind does not have; nil if there are none. It names all
// of them, where the server names only one, in no fixed order.
func (c Writer) undeclaredError(ref object.Ref, desired map[string]any) error {
	var texts []string
	for _, path := range unknownFields(desired, c.ShapeOf(ref), nil) {
		texts = append(texts, "."+path.String())
	}
	if len(texts) == 0 {
		return nil
	}
	return fmt.Errorf("failed to create typed patch object (%s/%s; %s): %s: %s",
		ref.Namespace, ref.Name, ref.GVK(), strings.Join(texts, ", "), notDeclared)
}

const notDeclared = "field not declared in schema"

// quotedValue matches what may be a value in an error of the field manager: text in quotes or in brackets of an item.
var quotedValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`expected [^,]+, got &?\{.*|\bgot [^:]*$`) })

// applyFault returns the parts of the field manager's error that quote no value.
func applyFault(err error) string {
	text := quotedValue().ReplaceAllString(err.Error(), "another type stands there")
	if head, list, several := strings.Cut(text, "errors:\n"); several {
		lines := slices.Sorted(strings.SplitSeq(list, "\n")) // the server lists them in no fixed order
		text = head + "errors:\n" + strings.Join(lines, "\n")
	}
	return text
}

// Creation predicts a server-side apply that creates an object. It returns the reason why the API server would reject it, or "" if none is
// known, and whether the definition of the kind would make the prediction better.
func (c Writer) Creation(ref object.Ref, desired map[string]any) (reason string, wantsSchema bool) {
	nothing := map[string]any{"apiVersion": desired["apiVersion"], "kind": desired["kind"]}
	done, err := c.Apply(ref, desired, nothing)
	if err != nil {
		return err.Error(), done.WantsSchema
	}
	return done.Invalid, done.WantsSchema
}

// MigratesFirst reports whether Helm, before it applies, turns its own earlier client-side writes into an apply.
func (c Writer) MigratesFirst(live map[string]any) bool {
	return c.ServerSide && c.Migrates && live != nil && !haveSameManagers(live, migrated(live, c.Deployer().Manager))
}

// Patch returns the client-side patch that Helm sends unless it is empty, and its content type.
func (c Writer) Patch(ref object.Ref, original, target, live map[string]any) (contentType string, body []byte, err error) {
	engine := c.clientSide(ref, target)
	body, err = engine.patch(original, target, live)
	contentType = string(types.MergePatchType)
	if engine.Engine == report.EngineStrategic {
		contentType = string(types.StrategicMergePatchType)
	}
	return contentType, body, err
}

// OwnedBy returns the fields that an apply of desired owns if it creates the object. They depend only on desired.
func (c Writer) OwnedBy(ref object.Ref, desired map[string]any) (*fieldpath.Set, error) {
	types, known := c.ownTypes(ref.GVK())
	versioned := versionedTypes{TypeConverter: types, gvk: ref.GVK(), ownsStatus: c.ShapeOf(ref).PlainStatus}
	apply, err := newServerSide(versioned, c.Deployer().Manager)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fmt.Errorf("the schema of %s is not known", ref.Kind)
	}
	nothing := map[string]any{"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace}}
	out, err := apply.apply(desired, nothing, true)
	if err != nil {
		return nil, errors.New(applyFault(err))
	}
	for _, entry := range owners.Entries(out, nil) {
		if entry.Manager == apply.deployer && entry.Operation == "Apply" {
			return entry.Fields, nil
		}
	}
	return nil, errors.New("an apply of the manifest owns no field")
}
