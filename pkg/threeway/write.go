package threeway

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// written is what Helm's write makes of a live object.
type written struct {
	engine Engine
	applied
	// doubt says why the result is not certain; empty where it is.
	doubt string
}

// write foretells Helm's write of desired over live, by the engine of the release. Original is the text that a client-side patch
// takes as old.
func (c comparer) write(ref Ref, original, desired, live map[string]any) (written, error) {
	if c.in.serverSide() {
		return c.writeServerSide(ref, desired, live)
	}
	engine := c.catalog.clientSideFor(gvkOf(ref), desired)
	result, err := engine.result(original, desired, live)
	return written{engine: engine.engine, applied: applied{result: result}}, err
}

// nativeApply is what client-go carries for server-side apply of native kinds: their scheme, untouched by others, and schemas.
var nativeApply = sync.OnceValue(func() (n struct {
	scheme *runtime.Scheme
	types  managedfields.TypeConverter
}) {
	n.scheme = runtime.NewScheme()
	must(clientscheme.AddToScheme(n.scheme))
	n.types = applyconfigurations.NewTypeConverter(n.scheme)
	return n
})

func (c comparer) writeServerSide(ref Ref, desired, live map[string]any) (written, error) {
	out := written{engine: EngineApply}
	gvk := gvkOf(ref)
	types, native := nativeApply().types, nativeApply().scheme.Recognizes(gvk)
	if !native {
		types = managedfields.NewDeducedTypeConverter()
		if known := c.in.ApplyTypes[gvk.GroupVersion()]; known != nil {
			types = known.converter
		} else {
			out.doubt = "the schema of the kind is not known, so its lists are taken as one value each"
		}
	}
	apply, err := newServerSide(types, gvk, !native)
	if err != nil {
		return out, err
	}
	if c.in.Migrates {
		live = migrated(live)
	}
	if others := otherVersions(live, ref.APIVersion()); len(others) > 0 {
		out.doubt = joinNotes(out.doubt, strings.Join(others, ", ")+" wrote at another version, which only the server can convert")
	}
	if out.applied, err = apply.result(desired, live, c.in.ForceConflicts); err != nil {
		return out, fmt.Errorf("server-side apply failed for object %s/%s %s: %s", ref.Namespace, ref.Name, gvk, applyFault(err))
	}
	return out, nil
}

// unquoted matches what may be a value in an error of the field manager: whatever stands in quotes or brackets of an item.
var unquoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`expected [^,]+, got &?\{.*|\bgot [^:]*$`) })

// applyFault gives the field manager's text in so far as it quotes no value.
func applyFault(err error) string {
	return unquoted().ReplaceAllString(err.Error(), "another type stands there")
}
