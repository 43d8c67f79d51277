package render

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"testing"
)

// BenchmarkChart renders the chart of the tests from its folder, as each Helm does.
func BenchmarkChart(b *testing.B) {
	log.SetOutput(io.Discard) // because the chart has a hook that Helm does not know
	b.Cleanup(func() { log.SetOutput(os.Stderr) })
	for _, four := range []bool{false, true} {
		b.Run(fmt.Sprint("helm4=", four), func(b *testing.B) {
			options := webOptions(func(o *ChartOptions) { o.Helm4 = four })
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Chart(b.Context(), options); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParse parses the manifest of a release with 15 objects: five Deployments, five Services, and five ConfigMaps of 8 KB. The
// speed is in bytes of the manifest.
func BenchmarkParse(b *testing.B) {
	var manifest strings.Builder
	for i := range 5 {
		fmt.Fprintf(&manifest, benchManifest, i, strings.Repeat("    setting: some value of a service\n", 220))
	}
	text := manifest.String()
	if m := Parse(text, ParseOptions{Namespace: "prod", Scope: scope}); len(m.Objects) != 15 || len(m.Errors) > 0 {
		b.Fatalf("%d objects, errors %v", len(m.Objects), m.Errors)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(text, ParseOptions{Namespace: "prod", Scope: scope})
	}
}

// benchManifest has three objects. It is formatted with their number and the lines of the ConfigMap.
const benchManifest = `---
# Source: web/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-%[1]d
  labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: shop, helm.sh/chart: web-1.2.3}
spec:
  replicas: 3
  selector:
    matchLabels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: shop}
  template:
    metadata:
      labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: shop}
    spec:
      containers:
      - name: app
        image: registry.example.com/shop/web:1.27.3
        ports:
        - {name: http, containerPort: 8080}
        env:
        - name: DATABASE_PASSWORD
          valueFrom: {secretKeyRef: {name: web, key: password}}
        - {name: LOG_LEVEL, value: warning}
        livenessProbe:
          httpGet: {path: /healthz, port: http}
        resources:
          requests: {cpu: 100m, memory: 256Mi}
        volumeMounts:
        - {name: config, mountPath: /etc/app}
      volumes:
      - name: config
        configMap: {name: web-%[1]d}
---
# Source: web/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: web-%[1]d
spec:
  selector: {app.kubernetes.io/name: web}
  ports:
  - {name: http, port: 80, targetPort: http}
---
# Source: web/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: web-%[1]d
data:
  app.conf: |
%[2]s
`
