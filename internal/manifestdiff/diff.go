package manifestdiff

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// differ makes one diff.
type differ struct {
	comparison *threeway.Comparison
	release    report.Release
	show       bool
	documents  []*document
	// toLive is set if the new manifest has what live has.
	toLive bool
	// leftOut says what is left out.
	leftOut []string
}

// Diff returns the difference between a manifest, as helm get manifest prints it, and what its release has become. Manifest is the text of
// the record, to which Helm adds a line break; empty if there is no release. Release is the report of the comparison: findings that it
// masks or silences are left out. Show is set if secrets are shown.
func Diff(manifest string, c *threeway.Comparison, release report.Release, show bool) *report.Patch {
	if release.Operation != report.OperationInstall {
		manifest += "\n"
	}
	d := differ{comparison: c, release: release, show: show, documents: split(manifest)}
	d.toLive = release.Operation == report.OperationDrift
	for _, o := range release.Objects {
		d.object(o)
	}
	return &report.Patch{Hunks: d.hunks(), LeftOut: d.leftOut}
}

// leaveOut says that something is left out.
func (d *differ) leaveOut(what, why string) {
	line := d.scrub(what) + " is left out: " + why
	if !slices.Contains(d.leftOut, line) {
		d.leftOut = append(d.leftOut, line)
	}
}

// scrub replaces the secrets in a text, unless they are shown.
func (d *differ) scrub(text string) string {
	if d.show {
		return text
	}
	return d.comparison.Scrub(text)
}

// title names an object: Deployment web (apps/v1).
func title(o report.Object) string {
	return fmt.Sprintf("%s %s (%s)", o.Kind, o.Name, o.APIVersion)
}

// object changes the document of one object of the report.
func (d *differ) object(o report.Object) {
	compared := d.compared(o)
	document := d.find(o.Key())
	switch {
	case o.Error != nil:
		d.leaveOut(title(o), o.Error.Message)
	case compared == nil:
	case document == nil && !d.toLive && compared.Old == nil:
		d.add(o, compared)
	case document == nil:
		if len(o.Fields) > 0 || o.Missing {
			d.leaveOut(title(o), "the manifest has no document of it alone that can be changed")
		}
	case d.toLive && o.Missing || !d.toLive && o.Action == report.ActionDelete:
		document.title, document.removed = title(o), o.IgnoredBy == nil
	case !d.toLive && o.Missing && o.IgnoredBy == nil:
		document.title = title(o)
		d.recreate(o, compared, document)
	default:
		document.title = title(o)
		d.fields(o, compared, document)
	}
}

// compared returns the comparison of an object of the report.
func (d *differ) compared(o report.Object) *threeway.ObjectComparison {
	i := slices.IndexFunc(d.comparison.Objects, func(c threeway.ObjectComparison) bool {
		return c.Ref == o.Ref() && len(c.Findings) == len(o.Fields)
	})
	if i < 0 {
		return nil
	}
	return &d.comparison.Objects[i]
}

// find returns the document of an object, the last one if there are several, as Helm does; nil if there is none. An object that names no
// namespace is in that of the release, or in none.
func (d *differ) find(key object.Key) *document {
	for _, document := range slices.Backward(d.documents) {
		ref := document.ref
		namespace := ref.Namespace
		if namespace == "" && key.Namespace == d.release.Namespace {
			namespace = key.Namespace
		}
		if ref.Name != "" && !document.added && key == (object.Key{Group: ref.Group, Kind: ref.Kind, Namespace: namespace, Name: ref.Name}) {
			return document
		}
	}
	return nil
}

// add adds the document of an object that is created.
func (d *differ) add(o report.Object, compared *threeway.ObjectComparison) {
	text, err := yaml.Marshal(object.Copy(compared.Content))
	if err != nil || o.IgnoredBy != nil {
		return
	}
	separator := "---\n"
	if o.Source != "" {
		separator += "# Source: " + strings.ReplaceAll(o.Source, "\n", " ") + "\n"
	}
	d.documents = append(d.documents, &document{separator: separator, edited: string(text), added: true, title: title(o), ref: compared.Ref})
}

// recreate changes the document of an object that is missing and is created again, so it has no findings: it becomes what is desired.
func (d *differ) recreate(o report.Object, compared *threeway.ObjectComparison, document *document) {
	wanted, _ := object.Copy(compared.Content).(map[string]any)
	if metadata := object.Child(wanted, "metadata"); document.ref.Namespace == "" {
		delete(metadata, "namespace") // the release has it
	}
	if err := document.write(wanted); err != nil {
		d.leaveOut(title(o), "the text of the document cannot be changed there")
	}
}

// fields changes a document by the findings of its object.
func (d *differ) fields(o report.Object, compared *threeway.ObjectComparison, document *document) {
	wanted, _ := object.Copy(document.content).(map[string]any)
	changed, unreached := 0, 0
	for i, f := range o.Fields {
		t, counts := d.target(f, compared.Findings[i])
		switch {
		case !counts:
		case f.Masked:
			d.leaveOut(title(o)+" "+f.Path, "masked")
		case d.isWhole(t, compared) && t.reached(wanted, document.content, compared.Old):
			changed++
		default:
			unreached++
		}
	}
	if unreached > 0 {
		d.leaveOut(fmt.Sprintf("%s: %s", title(o), counted(unreached)), "the text of the manifest cannot say it")
	}
	if changed == 0 {
		return
	}
	wanted, _ = swept(wanted).(map[string]any)
	if err := document.write(wanted); err != nil {
		d.leaveOut(fmt.Sprintf("%s: %s", title(o), counted(changed)), "the text of the document cannot be changed there")
	}
}

// isWhole reports whether the value of a target is what its side of the comparison has at the place. The values of a finding about the
// order of a list are only names, and those of several items of one name are a list.
func (d *differ) isWhole(t target, compared *threeway.ObjectComparison) bool {
	side := compared.Desired
	if d.toLive {
		side = compared.Live
	}
	value, found := t.path.Lookup(side)
	return !isAmbiguous(t.path, side) && (!found && t.value == nil || found && object.Identical(object.Copy(value), object.Copy(t.value)))
}

// target returns the value that a finding gives its field; false if the finding is silenced, or changes nothing.
func (d *differ) target(f report.Finding, clear threeway.Finding) (t target, counts bool) {
	t = target{clear.Path, clear.Desired}
	if d.toLive {
		t.value = clear.Live
	}
	isSilent := f.Silenced() || d.toLive && (f.Class == report.ClassAllocated || f.Equivalent)
	return t, !isSilent && !object.Identical(clear.Old, t.value)
}
