package drift_test

import (
	"context"
	"fmt"
	"os"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// savedCluster returns the connection to a cluster that was saved in a file. With a real cluster, LiveConnection returns it.
func savedCluster(name string) drift.Connection {
	file, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	saved, err := snapshot.Read(file)
	if err != nil {
		panic(err)
	}
	return snapshot.NewPlayer(saved).Connection()
}

// A Chart in the Target shows what helm upgrade would do with it.
func ExampleComparer_Compare_chart() {
	comparer := drift.New(savedCluster("../../testdata/snapshots/web.json.gz"), drift.Options{})
	chart := drift.Chart{Ref: "../../testdata/charts/demo", Values: render.ValueOptions{Set: []string{"replicas=4"}}}
	result, err := comparer.Compare(context.Background(), drift.Target{Namespace: "prod", Release: "web", Chart: &chart})
	if err != nil {
		panic(err)
	}
	release := result.Report(threeway.Mask{})
	if release.HasError() {
		panic(release.Errors) // such as a chart that does not render
	}
	for _, o := range release.Objects {
		for _, f := range o.Fields {
			if f.Cause != report.CauseDrift {
				fmt.Printf("%s %s: helm upgrade will %s %s: %v → %v\n", o.Kind, o.Name, f.Verdict, f.Path, f.Live, f.Desired)
			}
		}
	}
	// Output:
	// Deployment web: helm upgrade will overwrite spec.replicas: 5 → 4
}
