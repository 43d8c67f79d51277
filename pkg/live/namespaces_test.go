package live

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

func TestMissingNamespace(t *testing.T) {
	f := livetest.New(t)
	here := f.AddMany("ConfigMap", "prod", "a", 1)
	gone := f.Ref("ConfigMap", "prod", "gone")
	nowhere := []object.Ref{f.Ref("ConfigMap", "nowhere", "a"), f.Ref("Service", "nowhere", "b")}
	c := connect(f, Options{})

	got := c.Read(t.Context(), append(nowhere, append(here, gone)...))
	if got[gone].Absence != cluster.AbsentObject {
		t.Errorf("missing object in a live namespace: %+v", got[gone])
	}
	for _, ref := range nowhere {
		if got[ref].Absence != cluster.AbsentNamespace {
			t.Errorf("%v: %+v", ref, got[ref])
		}
	}
	// Only the namespace without any found object is read.
	livetest.WantRequests(t, f, namespaces+"/nowhere", namespaces+"/nowhere/configmaps/a", namespaces+"/nowhere/services/b",
		configMaps+"/a-000", configMaps+"/gone")

	f.Intercept = livetest.Failing(-1, "/namespaces/nowhere", livetest.Forbid)
	if got := c.Read(t.Context(), nowhere)[nowhere[0]]; got.Absence != cluster.AbsentObject {
		t.Errorf("where the namespace is forbidden: %+v", got)
	}
}

func TestNamespaceOfTheReleaseIsReadOnce(t *testing.T) {
	f := livetest.New(t)
	f.Namespace("empty")
	refs := []object.Ref{f.Ref("Namespace", "", "empty"), f.Ref("ConfigMap", "empty", "a"), f.Ref("Namespace", "", "no"), f.Ref("ConfigMap", "no", "a")}
	got := connect(f, Options{}).Read(t.Context(), refs)
	if got[refs[1]].Absence != cluster.AbsentObject || got[refs[2]].Absence != cluster.AbsentObject || got[refs[3]].Absence != cluster.AbsentNamespace {
		t.Errorf("%+v", got)
	}
	if len(f.Seen()) != 4 {
		t.Errorf("requests: %v", f.Seen())
	}
}

// TestTerminatingNamespaces checks that each namespace costs one get, and that one that cannot be read is left out, with a
// message.
func TestTerminatingNamespaces(t *testing.T) {
	f := livetest.New(t)
	for _, name := range []string{"going", "stays", "closed"} {
		f.Add("Namespace", "", name, nil)
	}
	going, _ := f.Objects[f.Kind("Namespace").Collection("")+"/going"]["metadata"].(map[string]any)
	going["deletionTimestamp"] = "2026-11-20T10:00:00Z"
	f.Intercept = livetest.Failing(-1, "/namespaces/closed", livetest.Forbid)
	got, unread := connect(f, Options{}).Terminating(t.Context(), []string{"going", "stays", "closed", "absent", "going"})
	if len(unread) != 1 || unread[0].Code != cluster.CodeForbidden || !strings.Contains(unread[0].Message, `namespaces "closed"`) {
		t.Errorf("messages %v", unread)
	}
	if len(got) != 1 || !got["going"] {
		t.Errorf("got %v", got)
	}
	if len(f.Seen()) != 4 {
		t.Errorf("requests %v", f.Seen())
	}
}
