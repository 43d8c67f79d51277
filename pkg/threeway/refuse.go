package threeway

import (
	"cmp"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// refuse fails an object that the API server is predicted to reject as Helm sends it: a value
// of another type than the field's, a change of an immutable field, fields that contradict each other. One that cannot be
// created ends the upgrade there; one that cannot be patched does not (helm v3.22.0 pkg/kube/client.go update).
func (c *comparer) refuse(d *decision, p pair) {
	switch {
	case len(d.failures) > 0:
	case d.action == report.ActionCreate:
		text := c.helmText(p.desired.Content)
		stored := c.storedForm(p.desired.Ref, text)
		if !c.in.ServerSide() {
			d.duplicates = apiserver.Duplicates(stored, c.writer.ShapeOf(p.desired.Ref))
		}
		creation := apiserver.Creation{Ref: p.desired.Ref, Definition: c.in.Schemas[p.desired.GroupKind()], Text: text, Stored: stored}
		reason := creation.Undecodable()
		refused := ""
		if c.in.ServerSide() && d.waitsFor == "" {
			refused, d.wantsSchema = c.writer.Creation(p.desired.Ref, text)
			metadata := apiserver.MetadataWrite{Ref: p.desired.Ref, Resource: resourceOf(p.desired.Ref), Result: text}
			refused = cmp.Or(refused, metadata.Refused())
		}
		if refused != "" {
			reason = apiserver.Join(refused, reason) // the server checks nothing after that
		} else {
			reason = apiserver.Join(reason, creation.Invalid())
		}
		if reason != "" {
			d.uncreatable = reason
			d.fail(scopeLater, reason)
		}
	case d.Live != nil && d.Result != nil:
		reason := apiserver.Join(c.unknownFields(p, d), d.invalid)
		if reason == "" && !object.Equal(d.Live, d.Result) {
			update := apiserver.Update{Ref: p.subject().Ref, Definition: c.in.Schemas[p.subject().GroupKind()], Text: d.liveText, Live: d.Live, Result: d.Result}
			reason = update.Refused(d.Engine != report.EngineStrategic)
		}
		if reason != "" {
			d.fail(scopeDeletions, reason)
		}
	}
}

// metadataReason returns the server's error about metadata that only the server sets; empty if it accepts what Helm writes there.
func (c *comparer) metadataReason(ref object.Ref, live map[string]any, done engine.Written) string {
	return apiserver.MetadataWrite{
		Ref: ref, Resource: resourceOf(ref), Live: live, Result: done.Result, Replaces: done.Engine == report.EngineReplace,
		WantsVersion: kinds.Native().Shape(ref.GVK()) == nil || ref.Group == "apiregistration.k8s.io" || wantsResourceVersion(ref.Key),
	}.Refused()
}

// storedForm returns the normal form of a new object as the server would store it.
func (c *comparer) storedForm(ref object.Ref, text map[string]any) map[string]any {
	out, _ := kinds.PlainNulls(kinds.NewNormalizer(ref.Key, c.writer.ShapeOf(ref), nil).Manifest(text).Object()).(map[string]any)
	return out
}

// noteControlCharacters adds a note with the places of control characters, on which a server-side apply fails.
func (c *comparer) noteControlCharacters(d *decision, p pair) {
	if !c.in.ServerSide() || p.desired == nil || len(d.failures) == 0 {
		return
	}
	if places := apiserver.Unreadable(p.desired.Content, nil); len(places) > 0 {
		d.notes.Add(report.NoteObject, "control characters at "+apiserver.JoinPaths(places))
	}
}

// unknownFields returns the reason why Helm 4 fails to replace an object whose manifest has unknown fields; empty if it does not.
func (c *comparer) unknownFields(p pair, d *decision) string {
	if d.Engine != report.EngineReplace {
		return ""
	}
	return c.writer.StrictReason(p.subject().Ref, d.desiredText)
}
