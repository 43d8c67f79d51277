package threeway

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Requests returns the writes that Helm would send if the upgrade began now: creations, patches and replacements, including those that
// the server is predicted to reject. It omits deletions, empty client-side patches, because Helm does not send them (helm v3.22.0
// pkg/kube/client.go updateResource), objects that Helm does not process, and writes that the server cannot check before the release
// has created the kind or the namespace. Each call computes the bodies anew; they belong to the caller.
func (c *Comparison) Requests() []cluster.Request {
	var out []cluster.Request
	for i := range c.Objects {
		if request, ok := c.request(&c.Objects[i]); ok {
			out = append(out, request)
		}
	}
	return out
}

// request returns the write for one object, and false if Helm sends none.
func (c *Comparison) request(o *ObjectComparison) (cluster.Request, bool) {
	if !o.isWritten() || c.notAskedReason(o) != "" {
		return cluster.Request{}, false
	}
	out := cluster.Request{Ref: o.Ref, Method: o.method}
	job := c.job.writerOf(o.index, o.Content)
	target := job.helmText(o.Content)
	var err error
	if c.Input.ServerSide() {
		out.Method, out.PatchType, out.Force = cluster.MethodPatch, string(types.ApplyYAMLPatchType), c.Input.ForceConflicts
		out.Body, err = json.Marshal(target)
		return out, err == nil
	}
	switch o.method {
	case cluster.MethodPatch:
		out.PatchType, out.Body, err = job.writer.Patch(o.Ref, o.original, target, o.liveText)
	case cluster.MethodReplace:
		out.Strict = c.Input.helm4()
		out.Body, err = job.writer.Replacement(target, o.liveText)
	case cluster.MethodCreate:
		out.Body, err = json.Marshal(object.WithoutVersion(target))
	}
	// Helm sends no empty patch (helm v3.22.0 pkg/kube/client.go updateResource). A patch that cannot be made is a predicted failure.
	return out, err == nil && string(out.Body) != "{}"
}

// notAskedReason returns the reason why there is no request for an object that Helm writes. It is empty if there may be one.
func (c *Comparison) notAskedReason(o *ObjectComparison) string {
	switch {
	case c.job.writerOf(o.index, o.Content).writer.MigratesFirst(o.liveText):
		return "Helm first turns its own earlier writes into an apply, which a dry run cannot do"
	case c.job.redefined[o.GroupKind()]:
		return "the installation changes its CustomResourceDefinition first"
	case o.waitsFor != "":
		return "the release creates " + o.waitsFor + " first"
	}
	return ""
}
