package accept_test

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report/accept"
	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

// saved is what "helmdrift diff web -n prod -o json" printed, shortened.
const saved = `{"apiVersion": "helmdrift.io/v1", "kind": "Report", "helmdrift": "v0.1.0", "time": "2026-11-23T08:00:00Z",
"releases": [{"name": "web", "namespace": "prod", "operation": "drift", "drifted": true, "compared": 3, "objects": [
  {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "prod", "name": "web", "action": "update", "drifted": true, "fields": [
    {"id": "1", "path": "spec.replicas", "pointer": "/spec/replicas", "verdict": "overwrite", "cause": "drift", "managed": true,
     "certain": true, "old": 2, "desired": 2, "live": 5, "after": 2, "owners": [{"manager": "kubectl", "group": "person"}]}]}]}]}`

// Known silences what an earlier report has, so that a check fails only on new drift.
func ExampleKnown() {
	baseline, err := reading.Report([]byte(saved))
	if err != nil {
		panic(err)
	}
	today, err := reading.Report([]byte(saved))
	if err != nil {
		panic(err)
	}
	for i := range today.Releases {
		accept.Known(&today.Releases[i], baseline, "baseline.json")
	}
	today.Recount()
	fmt.Println(today.Releases[0].State(), "with", today.Summary.Ignored, "known finding")
	// Output:
	// clean with 1 known finding
}
