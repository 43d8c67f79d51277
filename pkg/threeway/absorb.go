package threeway

import (
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// DesiredForm returns the normal form of another text of desired, as it is compared with live. The object is that of a comparison.
func (c *Comparison) DesiredForm(o *ObjectComparison, content map[string]any) map[string]any {
	f := kinds.NewNormalizer(o.Key, c.job.writer.ShapeOf(o.Ref), o.liveText)
	form := f.Manifest(c.job.helmText(content)).Object()
	plain, _ := kinds.PlainNulls(form).(map[string]any)
	return plain
}

// LiveText returns what live has at a path of the normal form, as it was read.
func (o *ObjectComparison) LiveText(path object.Path) (any, bool) {
	return path.LookupIn(o.liveText, o.Live)
}
