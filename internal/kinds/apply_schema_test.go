package kinds

import (
	"bytes"
	"encoding/gob"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

var update = flag.Bool("update", false, "write apply_schema.gob and list_map_keys.txt again")

// TestApplySchema checks that apply_schema.gob and list_map_keys.txt are the schema of client-go.
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
		for name, text := range map[string][]byte{"apply_schema.gob": file.Bytes(), "list_map_keys.txt": []byte(listMapKeysOf(want))} {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	got := applyParser().Schema.Types
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(smdschema.Map{}, smdschema.List{})); diff != "" {
		t.Errorf("apply_schema.gob differs from client-go; \"make fix\" writes it again (-want +got):\n%.2000s", diff)
	}
	if diff := cmp.Diff(listMapKeysOf(want), listMapKeysFile); diff != "" {
		t.Errorf("list_map_keys.txt differs from client-go; \"make fix\" writes it again (-want +got):\n%.2000s", diff)
	}
}

// listMapKeysOf returns the text of list_map_keys.txt.
func listMapKeysOf(types []smdschema.TypeDef) string {
	var lines []string
	for _, of := range types {
		if of.Map == nil {
			continue
		}
		for _, field := range of.Map.Fields {
			if list := field.Type.Inlined.List; list != nil && len(list.Keys) > 0 {
				lines = append(lines, of.Name+" "+field.Name+" "+strings.Join(list.Keys, " ")+"\n")
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
