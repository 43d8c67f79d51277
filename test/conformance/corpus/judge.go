package corpus

import (
	"fmt"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Judge compares a prediction with the truth and returns the differences, in words. Kubernetes' defaults and the fields that the server
// keeps for itself do not count, so a differ need not know them. The text of an error does not count.
func (c *Case) Judge(prediction Truth) []string {
	switch {
	case (prediction.Error != "") != (c.Error != ""):
		return []string{fmt.Sprintf("error %q, want %q", prediction.Error, c.Error)}
	case c.Error != "":
		return nil
	case (prediction.After == nil) != (c.After == nil):
		return []string{fmt.Sprintf("the object is predicted to be there: %v, it is: %v", prediction.After != nil, c.After != nil)}
	case c.After == nil:
		return nil
	}
	shape, err := c.shape()
	if err != nil {
		return []string{err.Error()}
	}
	reference := c.Live
	if reference == nil {
		reference = c.After
	}
	ref := c.ref()
	predicted := kinds.NewNormalizer(ref.Key, shape, reference).Stored(prediction.After)
	stored := kinds.NewNormalizer(ref.Key, shape, reference).Stored(c.After)
	var out []string
	for _, path := range verdict.Differences(ref.Key, shape, reference, predicted, stored, false) {
		out = append(out, path.String())
	}
	return out
}

// shape returns what is known of the kind.
func (c *Case) shape() (*kinds.Shape, error) {
	if c.Definition == nil {
		return kinds.ShapeOf(c.ref(), nil, false), nil
	}
	definition, err := kinds.NewCustomSchema(c.Definition)
	return kinds.ShapeOf(c.ref(), definition, false), err
}

// ref returns the identity of the object.
func (c *Case) ref() object.Ref {
	known := c.After
	for _, obj := range []map[string]any{c.Live, c.Old, c.Desired} {
		if obj != nil {
			known = obj
		}
	}
	ref := object.RefOf(known)
	ref.Namespace = c.Namespace
	return ref
}
