package absorb_test

import (
	"context"
	"fmt"
	"os"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
)

// Run searches for values that make the chart render what the cluster has, and RewriteValues puts them into a values file. The rest of
// the file stays as it is.
func ExampleRun() {
	const name = "../../testdata/charts/demo/values.yaml"
	file, err := os.Open("../../testdata/snapshots/web.json.gz")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	saved, err := snapshot.Read(file)
	if err != nil {
		panic(err)
	}
	cluster := snapshot.NewPlayer(saved).Connection()
	chart := drift.Chart{Ref: "../../testdata/charts/demo", Values: render.ValueOptions{Files: []string{name}}}
	found, err := absorb.Run(context.Background(), cluster, drift.Target{Namespace: "prod", Release: "web", Chart: &chart}, absorb.Options{})
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	if text, err = absorb.RewriteValues(name, text, found.Edits); err != nil {
		panic(err) // such as a value that the file shares by an anchor
	}
	fmt.Printf("%s", text)
	// Output:
	// image: {repository: nginx, tag: "1.27"}
	// replicas: 5
	// budget: {limit: 30, currency: EUR}
}
