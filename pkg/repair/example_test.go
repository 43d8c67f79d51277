package repair_test

import (
	"context"
	"fmt"
	"os"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// A plan says what would be written, and why something would not. With a real cluster, plan.Run would write it.
func ExampleNew() {
	file, err := os.Open("../../testdata/snapshots/web.json.gz")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	saved, err := snapshot.Read(file)
	if err != nil {
		panic(err)
	}
	comparer := drift.New(snapshot.NewPlayer(saved).Connection(), drift.Options{})
	result, err := comparer.Compare(context.Background(), drift.Target{Namespace: "prod", Release: "web"})
	if err != nil {
		panic(err)
	}

	web := object.Key{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}
	plan, err := repair.New(result.Comparison, repair.Options{Only: []repair.Selector{{Key: web}}})
	if err != nil {
		panic(err) // for one, if the release has no such object
	}
	for _, o := range plan.Result(threeway.Mask{}, nil).Plan {
		for _, f := range o.Fields {
			fmt.Printf("%s: %s back from %v to %v\n", o.Object, f.Path, f.Live, f.Old)
		}
	}
	// Output:
	// Deployment.apps prod/web: spec.replicas back from 5 to 2
	// Deployment.apps prod/web: spec.template.spec.containers[name=web].image back from nginx:1.27 to nginx:1.25
}
