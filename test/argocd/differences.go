package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/argoproj/argo-cd/v3/util/argo/diff"
	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pair is an object of the sources and the live object.
type pair struct{ Desired, Live *unstructured.Unstructured }

// difference says whether they differ for Argo CD, and how the live object would become, or why that is not known.
type difference struct {
	Modified        bool
	Live, Predicted json.RawMessage `json:",omitempty"`
	Error           string          `json:",omitempty"`
}

// newDifferences returns the command differences. It reads pairs, and writes for each what the controller finds when it compares three ways
// (argo-cd v3.6.1 controller/state.go CompareAppState).
func newDifferences() *cobra.Command {
	return &cobra.Command{RunE: func(*cobra.Command, []string) error {
		config, err := diff.NewDiffConfigBuilder().WithDiffSettings(nil, nil, false, normalizers.IgnoreNormalizerOpts{}).
			WithTracking("example.com/instance", "annotation").WithNoCache().Build()
		if err != nil {
			return err
		}
		return answerAll(func(p pair) difference { return p.compare(config) })
	}}
}

// compare compares a pair. Some make the library panic, such as those with a null in a list.
func (p pair) compare(config diff.DiffConfig) (d difference) {
	defer func() {
		if fault := recover(); fault != nil {
			d = difference{Error: fmt.Sprint(fault)}
		}
	}()
	found, err := diff.StateDiff(context.Background(), p.Live, p.Desired, config)
	if err != nil {
		return difference{Error: err.Error()}
	}
	return difference{Modified: found.Modified, Live: found.NormalizedLive, Predicted: found.PredictedLive}
}
