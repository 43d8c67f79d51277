package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/pkg/release"
)

// records is a server of Secrets with release records, by name.
type records struct {
	mu      sync.Mutex
	secrets map[string]map[string]any
	// forbidden is the name of a Secret that may be listed but not read. onGet is called before a Secret is read.
	forbidden string
	onGet     func(name string)
	// reading is the number of gets in progress, most is its maximum so far, and lists is the number of lists so far.
	reading, most, lists int
}

// made is when the records were stored.
var made = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// put stores the record of a revision of release name. The extra keys override the keys of the record.
func (s *records) put(name string, revision int, status string, extra map[string]any) {
	doc := map[string]any{
		"name": name, "namespace": "prod", "version": revision, "info": map[string]any{"status": status, "deleted": ""},
		"chart": map[string]any{"metadata": map[string]any{"name": name, "version": "1.0.0"}},
	}
	maps.Copy(doc, extra)
	text, _ := json.Marshal(doc)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(text)
	_ = z.Close()
	encode := base64.StdEncoding.EncodeToString
	secret := fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision)
	s.secrets[secret] = map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"metadata": map[string]any{"name": secret, "namespace": "prod", "creationTimestamp": made, "labels": map[string]any{
			"owner": "helm", "name": name, "version": strconv.Itoa(revision), "status": status}},
		"data": map[string]any{"release": encode([]byte(encode(zipped.Bytes())))},
	}
}

// ServeHTTP answers list and get.
func (s *records) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	if name != "secrets" && s.onGet != nil {
		s.onGet(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case name == "secrets":
		s.lists++
		_, release, selected := strings.Cut(r.URL.Query().Get("labelSelector"), "name=")
		items := []any{}
		for _, key := range slices.Sorted(maps.Keys(s.secrets)) {
			labels := s.secrets[key]["metadata"].(map[string]any)["labels"].(map[string]any)
			if !selected || labels["name"] == strings.TrimSuffix(release, ",owner=helm") {
				items = append(items, s.secrets[key])
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "items": items})
	case name == s.forbidden:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}`)
	case s.secrets[name] == nil:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "gone"}`)
	default:
		_ = json.NewEncoder(w).Encode(s.secrets[name])
	}
}

// source starts a server with the records, and returns it as a Source.
func (s *records) source(t *testing.T) Source {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	core, err := clientv1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	storage, err := release.Open("", meta, core.RESTClient())
	if err != nil {
		t.Fatal(err)
	}
	return Source{Storage: storage, Name: "dev"}
}

// list finds and lists all releases of the namespace prod, and returns a line for each.
func (s *records) list(t *testing.T, concurrency int) []string {
	t.Helper()
	source := s.source(t)
	found, err := source.Find(t.Context(), Selection{Namespace: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	var last Progress
	all, err := source.List(t.Context(), found, concurrency, func(p Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Releases) > 0 && (last.Done != len(found.Releases) || last.Total != len(found.Releases)) {
		t.Errorf("the last progress is %+v, with %d releases", last, len(found.Releases))
	}
	var lines []string
	for _, r := range all {
		if r.Namespace != "prod" || r.Cluster != "dev" || !r.Created.Equal(made) {
			t.Errorf("%+v", r)
		}
		line := fmt.Sprintf("%s %d %s %s %s %s", r.Name, r.Revision, r.Status, r.Chart, r.Helm, r.ApplyMethod)
		if r.Error != nil {
			line += r.Error.Code + ": " + r.Error.Message
		}
		lines = append(lines, line)
	}
	return lines
}

// TestList checks that the last revision is listed, deployed or not, with what its record says, and that a release that cannot be read
// has an error in its own entry.
func TestList(t *testing.T) {
	s := &records{secrets: map[string]map[string]any{}, forbidden: "sh.helm.release.v1.locked.v1"}
	four := map[string]any{"apply_method": "ssa", "info": map[string]any{"status": "deployed"}}
	s.put("by3", 9, "superseded", nil)
	s.put("by3", 10, "deployed", nil)
	s.put("by4", 1, "deployed", four)
	s.put("csa4", 1, "deployed", map[string]any{"apply_method": "csa"})
	s.put("failed", 1, "deployed", nil)
	s.put("failed", 2, "failed", nil)
	s.put("locked", 1, "deployed", nil)
	s.put("unknown", 1, "deployed", map[string]any{"info": map[string]any{"status": "deployed"}, "chart": nil})
	s.put("damaged", 4, "pending-upgrade", nil)
	s.secrets["sh.helm.release.v1.damaged.v4"]["data"] = map[string]any{"release": "AAAA"}
	s.put("relabelled", 3, "deployed", nil)
	s.secrets["sh.helm.release.v1.relabelled.v3"]["metadata"].(map[string]any)["labels"].(map[string]any)["version"] = "x"
	s.put("removed", 2, "uninstalled", nil)
	got := s.list(t, 3)
	for i, line := range got { // the advice of pkg/release follows
		got[i], _, _ = strings.Cut(line, " (")
	}
	want := []string{
		"by3 10 deployed by3-1.0.0 3 client-side",
		"by4 1 deployed by4-1.0.0 4 server-side",
		"csa4 1 deployed csa4-1.0.0 4 client-side",
		"damaged 4 pending-upgrade   unreadable: read revision 4 of damaged from Secret prod/sh.helm.release.v1.damaged.v4: " +
			"the record is not base64, or cut short: illegal base64 data at input byte 0",
		"failed 2 failed failed-1.0.0 3 client-side",
		"locked 1 deployed   forbidden: get Secret prod/sh.helm.release.v1.locked.v1: no",
		"relabelled 0 deployed   unreadable: Secret prod/sh.helm.release.v1.relabelled.v3 is labelled as a release record of Helm, " +
			`but its label version is "x", not a revision`,
		"unknown 1 deployed   client-side",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s.lists != 1 {
		t.Errorf("%d lists of records", s.lists)
	}
}

// TestListWhileSomebodyDeploys checks that a release that changes after it was found is listed as it is then, and that one that is
// uninstalled is left out.
func TestListWhileSomebodyDeploys(t *testing.T) {
	const record = "sh.helm.release.v1.web.v1"
	for name, c := range map[string]struct {
		change func(s *records)
		want   []string
	}{
		"uninstalled": {func(s *records) { delete(s.secrets, record) }, nil},
		"upgraded": {func(s *records) { s.put("web", 1, "superseded", nil); s.put("web", 2, "deployed", nil) },
			[]string{"web 2 deployed web-1.0.0 3 client-side"}},
		"upgraded with a history of one revision": {func(s *records) { delete(s.secrets, record); s.put("web", 2, "failed", nil) },
			[]string{"web 2 failed web-1.0.0 3 client-side"}},
	} {
		s := &records{secrets: map[string]map[string]any{}}
		s.put("web", 1, "deployed", nil)
		change := sync.OnceFunc(func() { s.mu.Lock(); defer s.mu.Unlock(); c.change(s) })
		s.onGet = func(string) { change() }
		if diff := cmp.Diff(c.want, s.list(t, 1)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestListIsBounded checks that at most the given number of records is read at the same time, that an interrupt ends the
// list, and that a release that was not read until then has an error.
func TestListIsBounded(t *testing.T) {
	s := &records{secrets: map[string]map[string]any{}}
	for i := range 30 {
		s.put(fmt.Sprintf("app-%d", i), 1, "deployed", nil)
	}
	together := make(chan struct{})
	meet := sync.OnceFunc(func() { close(together) })
	s.onGet = func(string) {
		s.mu.Lock()
		s.reading++
		s.most = max(s.most, s.reading)
		if s.reading > 1 {
			meet()
		}
		s.mu.Unlock()
		select { // the first read waits for a second one
		case <-together:
		case <-time.After(time.Minute):
		}
		s.mu.Lock()
		s.reading--
		s.mu.Unlock()
	}
	if got := s.list(t, 4); len(got) != 30 || s.most > 4 || s.most < 2 {
		t.Errorf("%d releases, up to %d at the same time", len(got), s.most)
	}
	source := s.source(t)
	found, err := source.Find(t.Context(), Selection{Namespace: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	list, err := source.List(ctx, found, 2, func(Progress) { cancel() })
	unread := 0
	for _, l := range list {
		if l.Error != nil && l.Error.Message == "interrupted before it was read" {
			unread++
		}
	}
	if !errors.Is(err, context.Canceled) || len(list) != 30 || unread < 25 || unread == 30 {
		t.Errorf("%d releases, %d of them not read, %v", len(list), unread, err)
	}
}
