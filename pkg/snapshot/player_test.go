package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// compare compares the release of a snapshot with its record, and returns the report.
func compare(t testing.TB, s *Snapshot) *report.Release {
	t.Helper()
	return compareTarget(t, s, drift.Target{Namespace: s.Namespace, Release: s.Release})
}

func compareTarget(t testing.TB, s *Snapshot, target drift.Target) *report.Release {
	t.Helper()
	p := NewPlayer(s)
	result, err := drift.New(p.Connection(), drift.Options{}).Compare(context.Background(), target)
	if err != nil {
		return nil
	}
	r := result.Report(threeway.Mask{})
	return &r
}

// exampleSnapshot reads the snapshot that README uses.
func exampleSnapshot(t *testing.T) *Snapshot {
	t.Helper()
	text, err := json.Marshal(example(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(bytes.NewReader(packed(t, string(text))))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// chartOf makes a chart of one template.
func chartOf(t *testing.T, template string) *drift.Chart {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"Chart.yaml": "{apiVersion: v2, name: shop, version: 1.3.0}", "templates/all.yaml": template} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &drift.Chart{Ref: dir}
}

// TestNotInSnapshot checks that what was not read is an error and not an absence: an object that only a chart names, a lookup, a
// revision. An object of a kind that the server does not serve is absent.
func TestNotInSnapshot(t *testing.T) {
	s := exampleSnapshot(t)
	target := drift.Target{Namespace: "prod", Release: "web"}
	target.Chart = chartOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}\n---\n"+
		"{apiVersion: ex.com/v1, kind: Unserved, metadata: {name: x}}")
	got := compareTarget(t, s, target)
	codes := map[string]string{}
	for _, o := range got.Objects {
		if o.Error != nil {
			codes[o.Kind] = o.Error.Code
		}
	}
	if codes["ConfigMap"] != CodeNotInSnapshot || codes["Unserved"] == CodeNotInSnapshot {
		t.Errorf("objects have the errors %v", codes)
	}
	target.Chart = chartOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web-settings},\n"+
		`data: {x: '{{ (lookup "v1" "Secret" "prod" "web-login").kind }}'}}`)
	if got := compareTarget(t, s, target); len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, "not in the snapshot") {
		t.Errorf("a lookup has the errors %v", got.Errors)
	}
	s.Records.Entries = append(s.Records.Entries, Entry{Name: "sh.helm.release.v1.web.v2", Revision: 2, Status: "deployed"})
	_, err := playedRecords{NewPlayer(s)}.Load(t.Context(), "web", 0, release.Options{})
	if err == nil || !strings.Contains(err.Error(), "does not hold revision 2") || !strings.Contains(drift.Hint(err), "--to-revision 2") {
		t.Errorf("a revision that was not read: %v", err)
	}
}

// TestAutoscalersOfOlderSnapshot checks the autoscalers of a snapshot that does not say which ones set the replicas also while they are 0:
// those of KEDA do, and of the others it is not known.
func TestAutoscalersOfOlderSnapshot(t *testing.T) {
	of := func(name string) Autoscaler {
		return Autoscaler{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: name}
	}
	queue, web := of("queue"), of("web")
	queue.Autoscaler, web.Autoscaler, web.ToZero = "ScaledObject queue", "HorizontalPodAutoscaler web", true
	s := &Snapshot{}
	s.Autoscalers = []Autoscalers{{Namespace: "prod", Found: []Autoscaler{queue, web}}}
	got, warnings := NewPlayer(s).Autoscalers(t.Context(), []string{"prod"})
	want := map[object.Key]object.Autoscaler{
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "queue"}: {Name: "ScaledObject queue", FromZero: true},
		{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}:   {Name: "HorizontalPodAutoscaler web", ToZero: true},
	}
	if !maps.Equal(got, want) || len(warnings) > 0 {
		t.Errorf("%v, %v", got, warnings)
	}
}

// TestMaskedChart checks masked values against a chart: such a value is not compared if the chart has another text, and is compared if
// the chart passes the masked value on.
func TestMaskedChart(t *testing.T) {
	s := exampleSnapshot(t)
	against := func(password string) *report.Release {
		template := "apiVersion: v1\nkind: Secret\nmetadata: {name: web-login}\nstringData: {password: " + password + "}\n"
		return compareTarget(t, s, drift.Target{Namespace: "prod", Release: "web", Chart: chartOf(t, template)})
	}
	got := against("clear")
	i := slices.IndexFunc(got.NotCompared, func(n report.NotCompared) bool { return n.Reason == report.NotComparedMasked })
	if i < 0 || got.NotCompared[i].Kind != "Secret" || got.NotCompared[i].Path != "stringData.password" {
		t.Errorf("not compared are %+v", got.NotCompared)
	}
	if f := passwordFinding(got); f == nil || f.Cause != report.CauseDrift || f.Certain || !f.Masked {
		t.Errorf("the drift of the password is %+v", f)
	}
	s.Records.Revisions[0].Config = []json.RawMessage{json.RawMessage(`{"password": "` + tokenOfPassword(t, s) + `"}`)}
	got = against("{{ .Values.password }}")
	if len(got.NotCompared) > 0 {
		t.Errorf("not compared are %+v", got.NotCompared)
	}
	if f := passwordFinding(got); f == nil || f.Cause != report.CauseDrift || !f.Certain || !f.Masked {
		t.Errorf("the drift of the password that the chart passes on is %+v", f)
	}
}

// passwordFinding returns the finding about the password of the example.
func passwordFinding(r *report.Release) *report.Finding {
	for _, o := range r.Objects {
		for i := range o.Fields {
			if o.Kind == "Secret" && o.Fields[i].Path == "data.password" {
				return &o.Fields[i]
			}
		}
	}
	return nil
}

// tokenOfPassword returns the token that the record has for the password.
func tokenOfPassword(t *testing.T, s *Snapshot) string {
	t.Helper()
	for _, m := range s.Records.Revisions[0].Manifest {
		content, err := decode(m.Object)
		if err != nil {
			t.Fatal(err)
		}
		if texts, ok := content["stringData"].(map[string]any); ok {
			return texts["password"].(string)
		}
	}
	t.Fatal("the manifest has no password")
	return ""
}

// TestLookupsOfAChart checks that lookups get the recorded answers, and that messages name the recorded server.
func TestLookupsOfAChart(t *testing.T) {
	s := exampleSnapshot(t)
	s.LookupServer = "file:///etc/passwd"
	s.Lookups = []Lookup{{Path: "/api/v1/x", Accept: "a", Status: "200 OK", Code: 200, ContentType: "application/json", Body: "{}"}}
	server, ask, err := NewPlayer(s).Connection().Lookups()
	if err != nil || server != noServer {
		t.Errorf("the server is %s, %v", server, err)
	}
	if a, err := ask(t.Context(), live.LookupRequest{Path: "/api/v1/x", Accept: "a"}); err != nil || a.Code != 200 || string(a.Body) != "{}" {
		t.Errorf("the answer is %v, %v", a, err)
	}
	if _, err := ask(t.Context(), live.LookupRequest{Path: "/api/v1/y"}); err == nil {
		t.Error("another lookup has an answer")
	}
}
