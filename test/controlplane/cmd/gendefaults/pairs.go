package main

import (
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
)

// pair is one object before and after defaulting.
type pair struct {
	Kind string         `json:"kind"`
	In   runtime.Object `json:"in"`
	Out  runtime.Object `json:"out"`
}

// writePairs writes perKind pairs of each kind. The same seed produces the same
// file.
func writePairs(out io.Writer, scheme *runtime.Scheme, kinds []kind, seed uint64, perKind int) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	// Half-filled objects show the most, and small ones are the easiest to debug.
	chances := []float64{0.5, 0.3, 0.1, 0.5, 0.7}
	for _, k := range kinds {
		random := newRandom(seed, k)
		for i := range perKind {
			fill := filler{random: random, chance: chances[i%len(chances)]}
			in, after, err := applyDefaults(scheme, k, fill.object(k))
			if err != nil {
				return err
			}
			if err := encoder.Encode(pair{k.String(), in, after}); err != nil {
				return err
			}
		}
	}
	return nil
}
