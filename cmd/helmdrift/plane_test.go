package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonpatch "github.com/evanphx/json-patch"
	"github.com/rogpeppe/go-internal/testscript"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// plane is a fake Kubernetes API server for scripts that depend on timing: it serves reads, JSON patches and creations of a few kinds,
// and refuses on demand. It knows no defaults, owners or validation; test/e2e has a real one.
type plane struct {
	mu      sync.Mutex
	objects map[string]map[string]any
	// faults are answers that replace the server's own, by verb and path. A patch waits while hold is open.
	faults map[string]fault
	hold   chan struct{}
	// held is closed when a patch arrives.
	held chan struct{}
	// meanwhile is called during a request. It may be nil.
	meanwhile func(*http.Request)

	writes []string
	// lists counts the lists of records. After as many lists as moves, somebody is upgrading.
	lists, moves int
	revision     int
}

type fault struct {
	code    int
	message string
}

// planeKinds returns the kinds that a plane serves, by the paths of their collections.
func planeKinds() map[string]metav1.GroupVersionKind {
	return map[string]metav1.GroupVersionKind{
		"/api/v1/namespaces/prod/secrets":           {Version: "v1", Kind: "Secret"},
		"/api/v1/namespaces/prod/configmaps":        {Version: "v1", Kind: "ConfigMap"},
		"/api/v1/namespaces/prod/services":          {Version: "v1", Kind: "Service"},
		"/apis/apps/v1/namespaces/prod/deployments": {Group: "apps", Version: "v1", Kind: "Deployment"},
		"/apis/ex.com/v1/namespaces/prod/things":    {Group: "ex.com", Version: "v1", Kind: "Thing"},

		"/api/v1/namespaces/prod/pods":              {Version: "v1", Kind: "Pod"},
		"/api/v1/namespaces/prod/events":            {Version: "v1", Kind: "Event"},
		"/apis/apps/v1/namespaces/prod/replicasets": {Group: "apps", Version: "v1", Kind: "ReplicaSet"},

		"/apis/helm.toolkit.fluxcd.io/v2/namespaces/prod/helmreleases":  {Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"},
		"/apis/autoscaling/v2/namespaces/prod/horizontalpodautoscalers": {Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	}
}

// planeCommands returns the commands of scripts for their plane. Each script has its own plane, in a value of its environment.
func planeCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	of := func(do func(ts *testscript.TestScript, p *plane, args []string)) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, _ bool, args []string) {
			p, _ := ts.Value(planeKey{}).(*plane)
			do(ts, p, args)
		}
	}
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"cluster": of(startPlane),
		// fault VERB PATH CODE MESSAGE answers with this error; without CODE it removes the fault. With code 0 the answer comes after the
		// time in MESSAGE.
		"fault": of(func(ts *testscript.TestScript, p *plane, args []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if delete(p.faults, args[0]+" "+args[1]); len(args) > 2 {
				code, err := strconv.Atoi(args[2])
				ts.Check(err)
				p.faults[args[0]+" "+args[1]] = fault{code, args[3]}
			}
		}),
		// upgrade N lets another upgrade begin after N lists of the records.
		"upgrade": of(func(ts *testscript.TestScript, p *plane, args []string) {
			n, err := strconv.Atoi(args[0])
			ts.Check(err)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.lists, p.moves = 0, n
		}),
		// edit KIND NAME PATCH makes a JSON merge patch, as somebody else.
		"edit": of(func(ts *testscript.TestScript, p *plane, args []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			path := pathOfKind(ts, args[0]) + "/" + args[1]
			ts.Check(p.change(path, func(doc []byte) ([]byte, error) { return jsonpatch.MergePatch(doc, []byte(args[2])) }))
		}),
		"create": of(func(ts *testscript.TestScript, p *plane, args []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			var object map[string]any
			ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[0])), &object))
			ts.Check(p.store(object))
		}),
		"remove": of(func(ts *testscript.TestScript, p *plane, args []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.objects, pathOfKind(ts, args[0])+"/"+args[1])
		}),
		// live KIND NAME prints an object. writes prints what was written since the last time.
		"live": of(func(ts *testscript.TestScript, p *plane, args []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			doc, err := yaml.Marshal(p.objects[pathOfKind(ts, args[0])+"/"+args[1]])
			ts.Check(err)
			fmt.Fprintf(ts.Stdout(), "%s", doc)
		}),
		"writes": of(func(ts *testscript.TestScript, p *plane, _ []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			fmt.Fprintln(ts.Stdout(), strings.Join(append([]string{fmt.Sprintf("%d writes", len(p.writes))}, p.writes...), "\n"))
			p.writes = nil
		}),
		// hold keeps the next patch waiting until go. held waits until the patch has arrived.
		"hold": of(func(_ *testscript.TestScript, p *plane, _ []string) {
			p.hold, p.held = make(chan struct{}), make(chan struct{}, 10)
		}),
		"held": of(func(_ *testscript.TestScript, p *plane, _ []string) { <-p.held }),
		"go":   of(func(_ *testscript.TestScript, p *plane, _ []string) { close(p.hold) }),
	}
}

type planeKey struct{}

func pathOfKind(ts *testscript.TestScript, kind string) string {
	for path, k := range planeKinds() {
		if k.Kind == kind {
			return path
		}
	}
	ts.Fatalf("the plane serves no %s", kind)
	return ""
}

// startPlane serves a release web, and writes the kubeconfig. The manifest and the live objects are files of the script.
func startPlane(ts *testscript.TestScript, p *plane, args []string) {
	status := "deployed"
	if len(args) > 2 {
		status = args[2]
	}
	server, err := p.start(ts.Getenv("KUBECONFIG"), ts.ReadFile(args[0]), ts.ReadFile(args[1]), status)
	ts.Check(err)
	ts.Defer(server.Close)
}

// start serves a release with this manifest, beside objects in YAML, and writes a kubeconfig.
func (p *plane) start(kubeconfig, manifest, live, status string) (*httptest.Server, error) {
	p.objects, p.faults, p.revision, p.lists, p.moves = map[string]map[string]any{}, map[string]fault{}, 1, 0, 0
	err := p.store(record(1, status, manifest))
	for doc := range strings.SplitSeq(live, "\n---\n") {
		var object map[string]any
		err = errors.Join(err, yaml.Unmarshal([]byte(doc), &object))
		err = errors.Join(err, p.store(object))
	}
	server := httptest.NewServer(p)
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: fake\nclusters:\n- {name: fake, cluster: {server: %q}}\n"+
		"contexts:\n- {name: fake, context: {cluster: fake, namespace: prod}}\n", server.URL)
	return server, errors.Join(err, os.WriteFile(kubeconfig, []byte(config), 0o600))
}

// record returns the Secret of a revision of the release web, as Helm 3 stores it.
func record(revision int, status, manifest string) map[string]any {
	return recordOf("web", revision, status, manifest)
}

func recordOf(name string, revision int, status, manifest string) map[string]any {
	doc, _ := json.Marshal(map[string]any{
		"name": name, "namespace": "prod", "version": revision, "manifest": manifest, "info": map[string]any{"status": status},
		"chart":  map[string]any{"metadata": map[string]any{"name": "web", "version": "1.2.0", "apiVersion": "v2"}},
		"config": map[string]any{"given": map[string]any{"tier": "gold", "password": "canary-given"}},
	})
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(doc)
	_ = z.Close()
	inner := base64.StdEncoding.EncodeToString(zipped.Bytes())
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"metadata": map[string]any{"name": fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision), "labels": map[string]any{
			"owner": "helm", "name": name, "version": strconv.Itoa(revision), "status": status}},
		"data": map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(inner))},
	}
}

// store stores an object with the metadata that a server adds.
func (p *plane) store(object map[string]any) error {
	u := unstructured.Unstructured{Object: object}
	for path, k := range planeKinds() {
		if k.Kind != u.GetKind() {
			continue
		}
		p.revision++
		u.SetNamespace("prod")
		u.SetResourceVersion(strconv.Itoa(p.revision))
		if u.GetUID() == "" {
			u.SetUID(types.UID("uid-of-" + u.GetName()))
		}
		p.objects[path+"/"+u.GetName()] = object
		return nil
	}
	return fmt.Errorf("the plane serves no %s", u.GetKind())
}

// change replaces an object by the result of a function on its JSON.
func (p *plane) change(path string, with func([]byte) ([]byte, error)) error {
	doc, err := json.Marshal(p.objects[path])
	if err != nil {
		return err
	}
	if doc, err = with(doc); err != nil {
		return err
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(doc); err != nil {
		return err
	}
	return p.store(u.Object)
}

// ServeHTTP answers.
func (p *plane) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method == http.MethodPatch && p.hold != nil {
		p.held <- struct{}{}
		<-p.hold
	}
	if p.meanwhile != nil {
		p.meanwhile(r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	path := r.URL.Path
	name := path[strings.LastIndex(path, "/")+1:]
	dry := r.URL.Query().Get("dryRun") != ""
	if r.Method != http.MethodGet {
		p.writes = append(p.writes, fmt.Sprintf("%s %s as %s%s", r.Method, name, r.URL.Query().Get("fieldManager"), map[bool]string{true: " dry"}[dry]))
	}
	if f, ok := p.faults[r.Method+" "+name]; ok && f.code != 0 {
		refuse(w, f.code, f.message)
		return
	} else if ok {
		delay, _ := time.ParseDuration(f.message)
		time.Sleep(delay)
	}
	switch _, isCollection := planeKinds()[path]; {
	case path == "/version":
		send(w, "", map[string]string{"gitVersion": "v1.36.3", "major": "1", "minor": "36"})
	case path == "/api/v1":
		send(w, "", metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}})
	case path == "/api/v1/namespaces":
		p.listNamespaces(w)
	case path == "/api/v1/namespaces/other": // a second namespace, where ConfigMaps can be created, and nothing else
		send(w, "", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "other"}})
	case r.Method == http.MethodPost && path == "/api/v1/namespaces/other/configmaps":
		var created unstructured.Unstructured
		_ = created.UnmarshalJSON(body)
		p.objects[path+"/"+created.GetName()] = created.Object
		send(w, "", created.Object)
	case path == "/api/v1/secrets": // of all namespaces; only prod has any
		r.URL.Path = "/api/v1/namespaces/prod/secrets"
		p.list(w, r)
	case r.Method == http.MethodGet && name == "secrets":
		p.list(w, r)
	case path == "/api" || path == "/apis":
		send(w, ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", discovery(path == "/api"))
	case r.Method == http.MethodPost && isCollection:
		p.post(w, path, body, dry)
	case isCollection:
		p.list(w, r)
	case name == "log": // of a pod: an annotation
		_, _ = io.WriteString(w, (&unstructured.Unstructured{Object: p.objects[strings.TrimSuffix(path, "/log")]}).GetAnnotations()["log"])
	case p.objects[path] == nil:
		refuse(w, http.StatusNotFound, name+" not found")
	case r.Method == http.MethodPatch:
		p.patch(w, path, body, dry)
	default:
		send(w, "", p.objects[path])
	}
}

func (p *plane) post(w http.ResponseWriter, path string, body []byte, dry bool) {
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(body); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if p.objects[path+"/"+u.GetName()] != nil {
		refuse(w, http.StatusConflict, u.GetName()+" already exists")
		return
	}
	if !dry {
		_ = p.store(u.Object)
	}
	send(w, "", u.Object)
}

func (p *plane) patch(w http.ResponseWriter, path string, body []byte, dry bool) {
	before := p.objects[path]
	patch, err := jsonpatch.DecodePatch(body)
	if err == nil {
		err = p.change(path, patch.Apply)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "the server rejected our request due to an error in our request")
		return
	}
	send(w, "", p.objects[path])
	if dry {
		p.objects[path] = before
	}
}

func (p *plane) list(w http.ResponseWriter, r *http.Request) {
	selector, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
	if strings.Contains(selector.String(), "owner=helm") {
		if p.lists++; p.moves > 0 && p.lists > p.moves {
			_ = p.store(record(2, "pending-upgrade", ""))
		}
	}
	items := []any{}
	for _, path := range slices.Sorted(maps.Keys(p.objects)) {
		u := unstructured.Unstructured{Object: p.objects[path]}
		if strings.HasPrefix(path, r.URL.Path+"/") && selector.Matches(labels.Set(u.GetLabels())) {
			items = append(items, u.Object)
		}
	}
	kind := planeKinds()[r.URL.Path]
	list := map[string]any{"apiVersion": kind.Version, "kind": kind.Kind + "List", "metadata": map[string]any{}, "items": items}
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
		list["apiVersion"], list["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	send(w, "", list)
}

// listNamespaces answers with the namespaces: prod, and one without a release.
func (p *plane) listNamespaces(w http.ResponseWriter) {
	var items []any
	for _, name := range []string{"prod", "staging"} {
		items = append(items, map[string]any{"metadata": map[string]any{"name": name}})
	}
	send(w, "", map[string]any{
		"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": map[string]any{}, "items": items,
	})
}

// discovery returns the aggregated discovery of the core group, or of the others.
func discovery(core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	groups, versions := map[string][]apidiscoveryv2.APIResourceDiscovery{}, map[string]string{}
	for path, k := range planeKinds() {
		if (k.Group == "") == core {
			versions[k.Group] = k.Version
			groups[k.Group] = append(groups[k.Group], apidiscoveryv2.APIResourceDiscovery{
				Resource: path[strings.LastIndex(path, "/")+1:], Scope: apidiscoveryv2.ScopeNamespace,
				Verbs: []string{"get", "list", "create", "patch"}, ResponseKind: &k,
			})
		}
	}
	list := &apidiscoveryv2.APIGroupDiscoveryList{}
	for group, resources := range groups {
		list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group},
			Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: versions[group], Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent, Resources: resources}}})
	}
	return list
}

func send(w http.ResponseWriter, more string, value any) {
	w.Header().Set("Content-Type", "application/json"+more)
	_ = json.NewEncoder(w).Encode(value)
}

// refuse answers with an error of the API.
func refuse(w http.ResponseWriter, code int, message string) {
	reason := map[int]metav1.StatusReason{
		http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusForbidden: metav1.StatusReasonForbidden,
		http.StatusConflict: metav1.StatusReasonAlreadyExists, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
	}[code]
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message})
}
