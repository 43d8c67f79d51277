package reading_test

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

// saved is what "helmdrift diff web -n prod -o json" printed, shortened.
const saved = `{"apiVersion": "helmdrift.io/v1", "kind": "Report", "helmdrift": "v0.1.0", "time": "2026-11-23T08:00:00Z",
"releases": [{"name": "web", "namespace": "prod", "operation": "drift", "drifted": true, "compared": 3, "objects": [
  {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "prod", "name": "web", "action": "update", "drifted": true, "fields": [
    {"id": "1", "path": "spec.replicas", "pointer": "/spec/replicas", "verdict": "overwrite", "cause": "drift", "managed": true,
     "certain": true, "old": 2, "desired": 2, "live": 5, "after": 2, "owners": [{"manager": "kubectl", "group": "person"}]}]}]}]}`

// A program reads a saved report and acts on the verdicts of its fields.
func ExampleReport() {
	r, err := reading.Report([]byte(saved))
	if err != nil {
		panic(err)
	}
	for _, release := range r.Releases {
		for _, o := range release.Objects {
			for _, f := range o.Fields {
				if f.Drifted() && !f.Silenced() {
					fmt.Printf("%s %s %s: %v, was %v; the next upgrade: %s\n", o.Kind, o.Name, f.Path, f.Live, f.Old, f.Verdict)
				}
			}
		}
	}
	// Output:
	// Deployment web spec.replicas: 5, was 2; the next upgrade: overwrite
}
