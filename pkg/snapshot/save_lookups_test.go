package snapshot

import (
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
)

// TestLookupsAreMasked checks that a masked snapshot keeps the answers to discovery, and masks every object that a chart looks up,
// whatever the name of its kind. The server has a path in its address, as behind a proxy of clusters.
func TestLookupsAreMasked(t *testing.T) {
	const base = "/k8s/clusters/c-1"
	object := func(kind string) string {
		return `{"apiVersion":"ex.com/v1","kind":"` + kind + `","metadata":{"name":"x"},"spec":{"password":"canary-1234"},` +
			`"items":[{"metadata":{"name":"y"},"spec":{"apiKey":"canary-5678"}}]}`
	}
	discovery := `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"secrets","kind":"Secret","token":"canary"}]}`
	refusal := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the header was Authorization: Bearer canary-9012","code":403}`
	bodies := map[string]string{
		"/api": discovery, "/api/v1": discovery, "/apis": discovery, "/apis/ex.com": discovery, "/apis/ex.com/v1": discovery,
		"/apis/ex.com/v1?timeout=32s":                   discovery,
		"/apis/ex.com/v1/apiusers/x":                    object("APIUser"),
		"/apis/ex.com/v1/namespaces/prod/apikeys?x=1":   object("APIKeyList"),
		"/apis/ex.com/v1/apiresourcelists":              object("APIResourceList"),
		"/api/v1/nodes":                                 object("APINode"),
		"/apis/ex.com/v1/namespaces/prod/apis/v1":       object("APIGroupList"),
		"/apis/ex.com/../../api/v1/namespaces/prod/any": object("APIVersions"),
	}
	s := exampleSnapshot(t)
	s.LookupServer = "https://proxy.example.com" + base + "/"
	for path, body := range bodies {
		s.Lookups = append(s.Lookups, Lookup{Path: base + path, Accept: "a", Code: 200, Status: "200 OK", Body: body})
	}
	s.Lookups = append(s.Lookups, Lookup{Path: base + "/apis/denied/v1", Accept: "a", Code: 403, Status: "403 Forbidden", Body: refusal})
	r := NewRecorder(NewPlayer(s).Connection())
	if _, err := drift.New(r.Connection(), drift.Options{}).Compare(t.Context(), drift.Target{Namespace: "prod", Release: "web"}); err != nil {
		t.Fatal(err)
	}
	_, ask, err := r.Connection().Lookups()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.Lookups {
		if _, err := ask(t.Context(), live.LookupRequest{Path: l.Path, Accept: l.Accept}); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := r.Snapshot(t.Context(), Options{Time: time.Unix(0, 0), Namespace: "prod", Release: "web"})
	if err != nil {
		t.Fatal(err)
	}
	if len(saved.Lookups) != len(bodies)+1 {
		t.Errorf("%d lookups are saved", len(saved.Lookups))
	}
	for _, l := range saved.Lookups {
		was := bodies[strings.TrimPrefix(l.Path, base)]
		if isKept := l.Body == was; isKept != (was == discovery) {
			t.Errorf("%s became %s", l.Path, l.Body)
		}
		if was != discovery && (strings.Contains(l.Body, "canary") || !strings.Contains(l.Body, "hd-masked-")) {
			t.Errorf("%s became %s", l.Path, l.Body)
		}
	}
}
