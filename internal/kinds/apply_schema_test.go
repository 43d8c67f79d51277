package kinds

import (
	"bytes"
	"encoding/gob"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

var update = flag.Bool("update", false, "write apply_schema.gob again")

// TestApplySchema checks that the schema in apply_schema.gob is the one of client-go.
func TestApplySchema(t *testing.T) {
	pod := &corev1.Pod{}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	of, err := applyconfigurations.NewTypeConverter(clientscheme.Scheme).ObjectToTyped(pod)
	if err != nil {
		t.Fatal(err)
	}
	want := of.Schema().Types
	if len(want) < 500 {
		t.Fatalf("client-go has %d types", len(want))
	}
	if *update {
		registerDefaults()
		var file bytes.Buffer
		if err := gob.NewEncoder(&file).Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("apply_schema.gob", file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got := applyParser().Schema.Types
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(smdschema.Map{}, smdschema.List{})); diff != "" {
		t.Errorf("apply_schema.gob differs from client-go; \"make fix\" writes it again (-want +got):\n%.2000s", diff)
	}
}
