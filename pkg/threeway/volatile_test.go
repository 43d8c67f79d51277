package threeway

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// edited returns the object after random edits of the chart.
func (o sample) edited(rng *rand.Rand) object.Object {
	out := o.Object
	out.Content, _ = object.Copy(o.Content).(map[string]any)
	o.edit(rng, out.Content)
	return out
}

// TestVolatileChangesAreSilenced: if the second rendering equals old's manifest, every change of the first is volatile and counts
// only as ignored. If both renderings are the same, nothing is volatile. The API server drops more of a Service than the patch does.
func TestVolatileChangesAreSilenced(t *testing.T) {
	for _, o := range samples(t) {
		if mangled(o.Content) || o.Kind == "Service" {
			continue
		}
		rng := o.random(7)
		for range max(1, *rounds/5) {
			desired := o.edited(rng)
			once := Compare(o.input(desired, o.installed()))
			desired.Again = desired.Content
			if got, want := describe(Compare(o.input(desired, o.installed()))), describe(once); got != want {
				t.Errorf("%s: the same rendering twice: got\n%swant\n%s", o.Source, got, want)
			}
			desired.Again = o.Content
			c := Compare(o.input(desired, o.installed()))
			r := report.New("", time.Time{}, []report.Release{c.Report(Mask{})})
			if s := r.Summary; s.Managed+s.Unmanaged > 0 || s.DriftedObjects > 0 || s.Ignored != len(c.Objects[0].Findings) {
				t.Errorf("%s: %+v\n%s", o.Source, s, describe(c))
			}
		}
	}
}

// TestVolatileHidesNoDrift: drift is reported as drift, whatever a second rendering returns.
func TestVolatileHidesNoDrift(t *testing.T) {
	for _, o := range samples(t) {
		rng := o.random(8)
		for range max(1, *rounds/5) {
			live := o.installed()
			o.edit(rng, live)
			live = o.served(live)
			desired := o.edited(rng)
			once := Compare(o.input(desired, live))
			desired.Again = o.edited(rng).Content
			twice := Compare(o.input(desired, live))
			if once.Objects[0].Drifted() && !twice.Objects[0].Drifted() {
				t.Errorf("%s: drift is hidden: got\n%swithout a second rendering\n%s", o.Source, describe(twice), describe(once))
			}
		}
	}
}

// TestVolatileTemplate: a volatile finding names the template that makes it.
func TestVolatileTemplate(t *testing.T) {
	in := caseInput(t, map[string]string{"old.yaml": configMap, "live.yaml": configMap, "desired.yaml": editedMap, "again.yaml": configMap})
	in.DesiredObjects[0].Source = "web/templates/c.yaml"
	fields := Compare(in).Report(Mask{}).Objects[0].Fields
	for _, f := range fields {
		if f.Class != report.ClassVolatile || f.Template != "web/templates/c.yaml" || !f.Silenced() || f.Drifted() {
			t.Errorf("got %+v", f)
		}
	}
	if len(fields) != 2 {
		t.Errorf("got %d findings", len(fields))
	}
}
