package render_test

import (
	"fmt"

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
