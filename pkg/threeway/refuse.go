package threeway

import (
	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// refuse fails an object that the API server will not store as Helm sends it, as far as that can be told without asking: a value
// of another type than the field's, a change of what cannot be changed, fields that contradict each other. One that cannot be
// created ends the upgrade there; one that cannot be patched does not (helm v3.22.0 pkg/kube/client.go update).
func (c comparer) refuse(out *ObjectComparison, p pair) {
	switch {
	case out.Action == report.ActionCreate:
		text := object.HelmMetadata(p.desired.Content, c.in.Name, c.in.Namespace)
		stored := c.installed(p.desired.Ref, text)
		if !c.in.serverSide() {
			out.repeated = apiserver.Duplicates(stored, c.shapeOf(p.desired.Ref), nil)
		}
		creation := apiserver.Creation{Ref: p.desired.Ref, Definition: c.in.Schemas[p.desired.GroupKind()], Text: text, Stored: stored}
		reason := creation.Undecodable()
		if refused := c.refusesCreation(out, text); refused != "" {
			reason = joinNotes(refused, reason) // the server comes to nothing else
		} else {
			reason = joinNotes(reason, creation.Invalid())
		}
		if reason != "" {
			out.fail(stopRest, reason)
		}
	case out.Action != report.ActionFail && out.Live != nil && out.Result != nil:
		reason := joinNotes(c.strictReason(out), out.invalid)
		if reason == "" && !object.Equal(out.Live, out.Result) {
			update := apiserver.Update{Ref: out.Ref, Definition: c.in.Schemas[out.GroupKind()], Text: out.liveText, Live: out.Live, Result: out.Result}
			reason = update.Refused(out.Engine != report.EngineStrategic)
		}
		if reason != "" {
			out.fail(stopNothing, reason)
		}
	}
}

// installed is the normal form of what the server would store of a new object.
func (c comparer) installed(ref object.Ref, text map[string]any) map[string]any {
	out, _ := kinds.PlainNulls(kinds.NewNormalizer(ref.Key, c.shapeOf(ref), nil).Manifest(text).Object()).(map[string]any)
	return out
}

// noteUnreadable says where the characters stand on which a server-side apply of an object fails.
func (c comparer) noteUnreadable(o *ObjectComparison, p pair) {
	if !c.in.serverSide() || p.desired == nil || o.Action != report.ActionFail {
		return
	}
	if places := apiserver.Unreadable(p.desired.Content, nil); len(places) > 0 {
		o.addNote("control characters stand at " + apiserver.JoinPaths(places))
	}
}
