package drift

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// readNeeds adds what a comparison needs to its input. It adds nil for what cannot be read, so that the next comparison does not need it
// again.
func (r run) readNeeds(ctx context.Context, needs threeway.Needs, in *threeway.Input) {
	if len(needs.CRDs) > 0 {
		in.Schemas = merged(in.Schemas, r.schemas(ctx, needs.CRDs, in))
	}
	if len(needs.ApplyTypes) > 0 {
		in.ApplyTypes = merged(in.ApplyTypes, r.applyTypes(ctx, needs.ApplyTypes, in))
	}
	if len(needs.Autoscalers) > 0 {
		scaled, warnings := r.connection.Cluster.Autoscalers(ctx, needs.Autoscalers)
		in.Autoscaled, in.AutoscalersUnseen, in.Warnings = scaled, len(warnings) > 0, append(in.Warnings, warnings...)
	}
}

// schemas reads the CustomResourceDefinitions of custom kinds. A definition that cannot be used is a warning.
func (r run) schemas(ctx context.Context, wanted []schema.GroupKind, in *threeway.Input) map[schema.GroupKind]*kinds.CustomSchema {
	crds, warnings := r.connection.Cluster.CRDs(ctx, wanted)
	in.Warnings = append(in.Warnings, warnings...)
	out := map[schema.GroupKind]*kinds.CustomSchema{}
	for _, kind := range wanted {
		out[kind] = nil
		crd, found := crds[kind]
		if !found {
			if slices.ContainsFunc(warnings, func(w report.Message) bool { return w.Object == kind.String() }) {
				in.SchemasUnread = merged(in.SchemasUnread, map[schema.GroupKind]bool{kind: true})
			}
			continue
		}
		known, err := r.parsed.schema(crd)
		if err != nil {
			in.Warnings = append(in.Warnings, report.Message{Code: "schema", Message: err.Error(), Object: kind.String()})
		}
		out[kind] = known
	}
	return out
}

// applyTypes reads the OpenAPI documents of custom resources that are applied server-side. The field manager needs them to merge lists.
func (r run) applyTypes(
	ctx context.Context, wanted []schema.GroupVersion, in *threeway.Input,
) map[schema.GroupVersion]*engine.ApplyTypes {
	documents, warnings := r.connection.Cluster.OpenAPI(ctx, wanted)
	in.Warnings = append(in.Warnings, warnings...)
	out := map[schema.GroupVersion]*engine.ApplyTypes{}
	for _, gv := range wanted {
		out[gv] = nil
		document, found := documents[gv]
		if !found {
			continue
		}
		known, err := r.parsed.applyTypes(document)
		if err != nil {
			in.Warnings = append(in.Warnings, report.Message{Code: "schema", Message: gv.String() + ": " + err.Error()})
		}
		out[gv] = known
	}
	return out
}

// parsed holds what was parsed for all comparisons of a Comparer: definitions of custom resources and OpenAPI documents can be megabytes.
// If one was read again, it is parsed again only if it has changed.
type parsed struct {
	schemas once.Map[definition, *kinds.CustomSchema]
	types   once.Map[*byte, *engine.ApplyTypes]
}

// definition identifies a state of a CustomResourceDefinition.
type definition struct{ uid, resourceVersion string }

// schema returns the schema of a definition.
func (p *parsed) schema(crd map[string]any) (*kinds.CustomSchema, error) {
	metadata := object.Child(crd, "metadata")
	uid, _ := metadata["uid"].(string)
	version, _ := metadata["resourceVersion"].(string)
	if uid == "" || version == "" {
		return kinds.NewCustomSchema(crd)
	}
	return p.schemas.Get(definition{uid, version}, func() (*kinds.CustomSchema, error) { return kinds.NewCustomSchema(crd) })
}

// applyTypes returns the types of a document, which the place of its text in memory identifies.
func (p *parsed) applyTypes(document []byte) (*engine.ApplyTypes, error) {
	if len(document) == 0 {
		return engine.NewApplyTypes(document)
	}
	return p.types.Get(&document[0], func() (*engine.ApplyTypes, error) { return engine.NewApplyTypes(document) })
}
