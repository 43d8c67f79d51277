package release_test

import (
	"encoding/base64"
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/release"
)

// Choose finds the revision that helm upgrade would start from: the last one that was deployed, not a failed one after it.
func ExampleHistory_Choose() {
	history := release.History{Entries: []release.Entry{
		{Release: "web", Revision: 1, Status: "superseded"},
		{Release: "web", Revision: 2, Status: "deployed"},
		{Release: "web", Revision: 3, Status: "failed"},
	}}
	choice, err := history.Choose(0)
	if err != nil {
		panic(err)
	}
	fmt.Println("old:", choice.Old.Revision, "last:", choice.Last.Revision)
	// Output:
	// old: 2 last: 3
}

// Decode reads the text that is stored under "release" in the Secret sh.helm.release.v1.web.v3.
func ExampleDecode() {
	stored := base64.StdEncoding.EncodeToString([]byte(`{"name": "web", "namespace": "prod", "version": 3,
		"info": {"status": "deployed"}, "chart": {"metadata": {"name": "shop", "version": "1.2.0"}},
		"manifest": "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"}`))
	record, err := release.Decode([]byte(stored), release.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s, revision %d of %s, is %s\n%s", record.Chart(), record.Revision, record.Name, record.Status, record.Manifest)
	// Output:
	// shop-1.2.0, revision 3 of web, is deployed
	// ---
	// apiVersion: v1
	// kind: ConfigMap
	// metadata: {name: web}
}
