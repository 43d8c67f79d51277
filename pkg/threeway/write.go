package threeway

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// written is what Helm's write makes of a live object.
type written struct {
	engine report.Engine
	applied
	// doubts say what of the result is not certain.
	doubts []doubt
	// invalid is what the API server says of the result where it does not take it.
	invalid string
	// asks tells that the definition of a custom kind would tell more.
	asks bool
	// kept is where the API server keeps metrics of an autoscaler that the apply drops; nil for most.
	kept object.Path
}

// write foretells Helm's write of desired over live, by the engine of the release. Original is the text that a client-side patch
// takes as old.
func (c comparer) write(ref object.Ref, original, desired, live map[string]any) (written, error) {
	if c.in.serverSide() {
		return c.writeServerSide(ref, desired, live)
	}
	if c.in.ForceReplace {
		return replaced(desired), nil
	}
	engine := c.clientSide(ref, desired)
	result, err := engine.result(original, desired, live)
	return written{engine: engine.engine, applied: applied{result: result}}, err
}

func (c comparer) writeServerSide(ref object.Ref, desired, live map[string]any) (written, error) {
	out := written{engine: report.EngineApply}
	if len(unreadable(desired, nil)) > 0 {
		return out, applyFailed(ref, errUnreadable)
	}
	deployer := c.deployer()
	original := live
	live = c.asApplied(original, deployer.Manager)
	types, doubts, err := c.typesOf(ref, desired, live)
	if err != nil && types.reads(desired) {
		return out, applyFailed(ref, err)
	}
	gvk := ref.GVK()
	apply, err := newServerSide(types, gvk, !kinds.NativeApply().Scheme.Recognizes(gvk), deployer.Manager)
	if err != nil {
		return out, err
	}
	if out.applied, err = apply.result(desired, live, c.in.ForceConflicts); err != nil {
		return out, applyFailed(ref, c.undeclaredFirst(ref, desired, err))
	}
	owners.OrderAsVersion1(ref.Key, deployer.Manager, live, out.result)
	out.invalid, out.asks = c.nullsRefused(ref, live, out.result)
	out.asks = out.asks || len(types.guessed) > 0 || desired["status"] != nil
	out.doubts = append(doubts, apply.doubts(types, desired, live, c.in.ForceConflicts, out.applied)...)
	out.doubts = append(out.doubts, c.otherDeployers(apply, desired, original, out.applied)...)
	out.keepMetrics(ref, live)
	return out, nil
}

// asApplied is live as it is just before a deployer applies.
func (c comparer) asApplied(live map[string]any, deployer string) map[string]any {
	if c.in.Migrates {
		return migrated(live, deployer)
	}
	return live
}

// refusesCreation says why the API server would not create an object by a server-side apply; empty where nothing speaks against it.
func (c comparer) refusesCreation(o *ObjectComparison, desired map[string]any) string {
	if !c.in.serverSide() || o.awaits != "" {
		return ""
	}
	nothing := map[string]any{"apiVersion": desired["apiVersion"], "kind": desired["kind"]}
	done, err := c.writeServerSide(o.Ref, desired, nothing)
	o.asks = done.asks
	if err != nil {
		return err.Error()
	}
	return done.invalid
}

// applyFailed says what Helm says of an apply that the server refuses (helm v4.3.1 pkg/kube/client.go patchResourceServerSide).
func applyFailed(ref object.Ref, err error) error {
	return fmt.Errorf("server-side apply failed for object %s/%s %s: %s", ref.Namespace, ref.Name, ref.GVK(), applyFault(err))
}

// undeclaredFirst names all fields of a manifest that the kind does not have. The server names the one that it comes upon first, and
// it goes through them in no order.
func (c comparer) undeclaredFirst(ref object.Ref, desired map[string]any, err error) error {
	if !strings.Contains(err.Error(), notDeclared) {
		return err
	}
	var texts []string
	for _, path := range unknownFields(desired, c.shapeOf(ref), nil) {
		texts = append(texts, "."+path.String())
	}
	if len(texts) == 0 {
		return err
	}
	return fmt.Errorf("failed to create typed patch object (%s/%s; %s): %s: %s", ref.Namespace, ref.Name, ref.GVK(), strings.Join(texts, ", "), notDeclared)
}

const notDeclared = "field not declared in schema"

// unquoted matches what may be a value in an error of the field manager: whatever stands in quotes or brackets of an item.
var unquoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`expected [^,]+, got &?\{.*|\bgot [^:]*$`) })

// applyFault gives the field manager's text in so far as it quotes no value.
func applyFault(err error) string {
	text := unquoted().ReplaceAllString(err.Error(), "another type stands there")
	if head, list, several := strings.Cut(text, "errors:\n"); several {
		lines := strings.Split(list, "\n") // they come in no order
		slices.Sort(lines)
		text = head + "errors:\n" + strings.Join(lines, "\n")
	}
	return text
}
