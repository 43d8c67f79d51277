package threeway

import (
	"slices"

	"github.com/helmdrift/helmdrift/internal/ignore"
)

// An install writes the objects of the chart's crds folder before it renders the templates. It asks nobody who owns them, adds none of its
// metadata, and ends at the first failure. Server-side each is an apply, which writes over an existing definition; client-side an existing
// one is left alone (helm v3.22.0 and v4.3.1 pkg/action/install.go installCRDs).

// writerOf returns the comparer of the object at an index: one that writes as Helm writes the crds folder if the index is negative.
func (c *comparer) writerOf(index int) *comparer {
	if index >= 0 {
		return c
	}
	out := *c
	out.asWritten, out.in.Migrates, out.writer.Migrates = true, false, false
	return &out
}

// decideDefinition decides about an object of the crds folder.
func (c *comparer) decideDefinition(p pair, f found, rules *ignore.ObjectRules) decision {
	live := f.live.Object
	switch {
	case f.live.Absence == AbsentKind:
		return c.decideUnserved(p, f, rules)
	case live == nil:
		return c.decideMissing(p, f.live.Absence)
	case !c.in.ServerSide():
		return decision{}
	}
	p.old = p.desired
	d := c.decideUpdate(p, rules, live, p.desired.Content)
	kept := d.Findings[:0]
	for _, finding := range d.Findings {
		if finding.Managed || finding.Writes() {
			kept = append(kept, c.withoutOld(finding))
		}
	}
	d.Findings, d.Old = kept, nil
	return d
}

// stopInstall makes each failure one that ends the installation.
func (d *decision) stopInstall(source string) {
	for i := range d.failures {
		d.failures[i].scope = scopeAll
		d.failures[i].reason = "failed to install CRD " + source + ": " + d.failures[i].reason
	}
}

// isDefinition reports whether the object is of the crds folder.
func (o *ObjectComparison) isDefinition() bool { return o.index < 0 }

// skipAfterDefinition skips what Helm does not process because it fails on an object of the crds folder, and reports whether it does.
func skipAfterDefinition(objects []ObjectComparison, failing []*ObjectComparison) bool {
	i := slices.IndexFunc(failing, (*ObjectComparison).isDefinition)
	if i < 0 {
		return false
	}
	for j := range objects {
		switch o := &objects[j]; {
		case o.index > failing[i].index:
			o.skip(failing[i])
		case o == failing[i]:
			o.blockFields()
		}
	}
	return true
}
