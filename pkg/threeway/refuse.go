package threeway

import (
	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// refuse fails an object that the API server refuses as Helm sends it, as far as internal/apiserver predicts that. An object that cannot be
// created ends the upgrade there; one that cannot be patched does not (helm v3.22.0 pkg/kube/client.go update).
func (c comparer) refuse(d *decision, p pair) {
	switch {
	case len(d.failures) > 0:
	case d.action == report.ActionCreate:
		text := object.HelmMetadata(p.desired.Content, c.in.Name, c.in.Namespace)
		stored := c.installed(p.desired.Ref, text)
		if !c.in.serverSide() {
			d.duplicates = apiserver.Duplicates(stored, c.shapeOf(p.desired.Ref), nil)
		}
		creation := apiserver.Creation{Ref: p.desired.Ref, Definition: c.in.Schemas[p.desired.GroupKind()], Text: text, Stored: stored}
		reason := creation.Undecodable()
		refused := ""
		if c.in.serverSide() && d.waitsFor == "" {
			refused, d.wantsSchema = c.writer.Creation(p.desired.Ref, text)
		}
		if refused != "" {
			reason = apiserver.Join(refused, reason) // the server checks nothing else then
		} else {
			reason = apiserver.Join(reason, creation.Invalid())
		}
		if reason != "" {
			d.fail(stopRest, reason)
		}
	case d.Live != nil && d.Result != nil:
		reason := apiserver.Join(c.unknownFields(p, d), d.invalid)
		if reason == "" && !object.Equal(d.Live, d.Result) {
			ref := p.main().Ref
			update := apiserver.Update{Ref: ref, Definition: c.in.Schemas[ref.GroupKind()], Text: d.liveText, Live: d.Live, Result: d.Result}
			reason = update.Refused(d.Engine != report.EngineStrategic)
		}
		if reason != "" {
			d.fail(stopNothing, reason)
		}
	}
}

// installed returns the normal form of what the server would store of a new object.
func (c comparer) installed(ref object.Ref, text map[string]any) map[string]any {
	out, _ := kinds.PlainNulls(kinds.NewNormalizer(ref.Key, c.shapeOf(ref), nil).Manifest(text).Object()).(map[string]any)
	return out
}

// noteUnreadable notes where an object has the characters on which its server-side apply fails.
func (c comparer) noteUnreadable(d *decision, p pair) {
	if !c.in.serverSide() || p.desired == nil || len(d.failures) == 0 {
		return
	}
	if places := apiserver.Unreadable(p.desired.Content, nil); len(places) > 0 {
		d.notes.Add(report.NoteObject, "control characters stand at "+apiserver.JoinPaths(places))
	}
}

// unknownFields returns the reason why Helm 4 fails to replace an object whose manifest has fields that its type does not have.
func (c comparer) unknownFields(p pair, d *decision) string {
	if d.Engine != report.EngineReplace {
		return ""
	}
	return c.writer.StrictReason(p.main().Ref, d.desiredText)
}
