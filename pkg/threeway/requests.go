package threeway

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Requests are the writes that Helm would send if the upgrade began now: what it creates and what it patches, also where the
// patch changes nothing or the prediction is that the server will refuse it. Deletions are not among them, nor is anything of an
// object that Helm does not come to, or that the server cannot judge before the release has brought its kind or its namespace.
// Bodies are made here and kept by nobody.
func (c *Comparison) Requests() []Request {
	var out []Request
	for i := range c.Objects {
		if request, ok := c.request(&c.Objects[i]); ok {
			out = append(out, request)
		}
	}
	return out
}

// request is the write for one object, false where Helm sends none.
func (c *Comparison) request(o *ObjectComparison) (Request, bool) {
	if !o.isWritten() || c.notAskedReason(o) != "" {
		return Request{}, false
	}
	out := Request{Ref: o.Ref, Method: o.method}
	target := object.HelmMetadata(o.Content, c.Input.Name, c.Input.Namespace)
	var err error
	if c.Input.serverSide() {
		out.Method, out.PatchType, out.Force = MethodPatch, string(types.ApplyYAMLPatchType), c.Input.ForceConflicts
		out.Body, err = json.Marshal(target)
		return out, err == nil
	}
	switch o.method {
	case MethodPatch:
		out.PatchType, out.Body, err = c.comparer().writer.Patch(o.Ref, o.original, target, o.liveText)
	case MethodReplace:
		out.Strict = c.Input.helm4()
		out.Body, err = c.comparer().writer.Replacement(target, o.liveText)
	case MethodCreate:
		out.Body, err = json.Marshal(target)
	}
	// Helm sends no patch that is empty (helm v3.22.0 pkg/kube/client.go updateResource). One that cannot be made was predicted.
	return out, err == nil && string(out.Body) != "{}"
}

// notAskedReason says why there is no request for an object that Helm writes; empty where there may be one.
func (c *Comparison) notAskedReason(o *ObjectComparison) string {
	switch {
	case c.comparer().writer.MigratesFirst(o.liveText):
		return "Helm first makes its own earlier writes part of the apply, which a dry run cannot do"
	case o.waitsFor != "":
		return "the release brings " + o.waitsFor + " first"
	}
	return ""
}
