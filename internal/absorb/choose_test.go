package absorb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestChoose checks that a field that is not chosen is left with the reason, and that whoever chooses does not see a secret of the values.
func TestChoose(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{
		"Chart.yaml":  []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"),
		"values.yaml": []byte("a: one\nb: one\npassword: hunter2hunter2\n"),
		"templates/all.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n" +
			"data: {a: {{ .Values.a }}, b: {{ .Values.b }}, c: plain}\n"),
	})
	file := []byte("a: one\nb: one\n")
	c, err := install(t.Context(), dir, file, false)
	if err != nil {
		t.Fatal(err)
	}
	edits := "ConfigMap web /data/a two\nConfigMap web /data/b two\nConfigMap web /data/c hunter2hunter2\n"
	if err := c.edit(edits); err != nil {
		t.Fatal(err)
	}
	var seen []string
	a, err := absorb.Run(t.Context(), c.connection(), target(dir, file), absorb.Options{
		Choose: func(_ *threeway.Comparison, fields []absorb.Field) (reasons []string, err error) {
			for _, f := range fields {
				live, _ := f.Shown.Field.Live.(string)
				seen = append(seen, f.Path.String()+" "+live)
				reasons = append(reasons, "")
			}
			reasons[0], reasons[2] = "because", "because"
			return reasons, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"data.a two", "data.b two", "data.c "}, seen); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	r := a.Report("test", time.Now())
	first := r.Fields[0]
	if len(r.Fields) != 3 || first.Field.Path != "data.b" || first.IsLeft() || strings.Contains(string(a.Content), `"a":"two"`) {
		t.Errorf("absorbed %s", described(r))
	}
	for _, f := range r.Fields[1:] {
		if !f.IsLeft() || f.Reason != absorption.LeftNotChosen || f.Message != "because" || f.Field.Live == "hunter2hunter2" {
			t.Errorf("left %+v", f)
		}
	}
}
