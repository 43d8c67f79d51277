package report

import (
	"encoding/json"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestObjectKey checks that a key is one text in JSON, and that this text decodes to the key.
func TestObjectKey(t *testing.T) {
	for text, key := range map[string]object.Key{
		"Deployment.apps prod/web":             {Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"},
		"Secret prod/sh.helm.release.v1.db.v7": {Kind: "Secret", Namespace: "prod", Name: "sh.helm.release.v1.db.v7"},
		"ClusterRole.rbac.authorization.k8s.io system:aggregated-Foo": {
			Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:aggregated-Foo",
		},
		"Namespace prod":         {Kind: "Namespace", Name: "prod"},
		"Role.ex.com prod/a b.c": {Group: "ex.com", Kind: "Role", Namespace: "prod", Name: "a b.c"},
		"Job prod/":              {Kind: "Job", Namespace: "prod"}, // an object with generateName
		" ":                      {},
	} {
		doc, err := json.Marshal(FixOutcome{Object: ObjectKey{Key: key}})
		if want := `{"object":"` + text + `","status":""}`; err != nil || string(doc) != want {
			t.Errorf("%+v is written as %s, %v; want %s", key, doc, err, want)
		}
		var outcome FixOutcome
		if err := json.Unmarshal(doc, &outcome); err != nil || outcome.Object.Key != key {
			t.Errorf("%s is read as %+v, %v", doc, outcome.Object, err)
		}
	}
	if err := new(ObjectKey).UnmarshalText([]byte("Deployment")); err == nil {
		t.Error("a text without a name is read as a key")
	}
}
