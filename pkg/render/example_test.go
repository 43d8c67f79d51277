package render_test

import (
	"context"
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// Parse reads a manifest as Helm does. A document that cannot be read is an error of its own.
func ExampleParse() {
	manifest := render.Parse(`---
# Source: shop/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
# Source: shop/templates/service.yaml
apiVersion: v1
kind: Service
metadata: {name: web}
`, render.ParseOptions{Namespace: "prod"})
	for _, o := range manifest.Objects {
		fmt.Println(o.Kind, o.Name, "in", o.Namespace, "from", o.Source)
	}
	// Output:
	// ConfigMap web in prod from shop/templates/config.yaml
	// Service web in prod from shop/templates/service.yaml
}

// Chart renders what helm upgrade would store as the manifest of the next revision.
func ExampleChart() {
	rendered, err := render.Chart(context.Background(), render.ChartOptions{
		Path: "../../testdata/charts/demo", ReleaseName: "web", Namespace: "prod", LastRevision: 1,
		Values:       render.ValueOptions{Set: []string{"replicas=3"}},
		Capabilities: chartutil.DefaultCapabilities, // those of a cluster: live.Cluster.Capabilities
	})
	if err != nil {
		panic(err) // a *render.Error if the chart or its values are wrong
	}
	for _, o := range render.Parse(rendered.Manifest, render.ParseOptions{Namespace: "prod"}).Objects {
		if o.Kind == "Deployment" {
			fmt.Println(rendered.ChartName, rendered.ChartVersion, o.Kind, o.Name, object.Child(o.Content, "spec")["replicas"])
		}
	}
	// Output:
	// shop 1.2.0 Deployment web 3
}
