package argo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// These are the commit of the last sync, and the one that the branch has now.
const (
	commitThen = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	commitNow  = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// repository is a repository of Git with the files of commits, or of branches. It notes what is fetched.
type repository struct {
	dirs    map[string]string
	fetched []string
}

func newRepository(t *testing.T, files map[string]map[string]string) *repository {
	t.Helper()
	r := &repository{dirs: map[string]string{}}
	for commit, all := range files {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range all {
			writeFile(t, filepath.Join(dir, name), text)
		}
		r.dirs[commit] = dir
	}
	return r
}

func (r *repository) commit(_ context.Context, o source.CommitOrder) (dir, commit string, done func(), err error) {
	r.fetched = append(r.fetched, strings.TrimPrefix(o.Tree+" "+o.Ref, " "))
	dir, found := r.dirs[strings.TrimPrefix(o.Tree+" "+o.Ref, " ")]
	if !found {
		return "", "", func() {}, errors.New("the server has no such commit")
	}
	if commit = o.Ref; commit == "main" {
		commit = commitNow
	}
	return dir, commit, func() {}, nil
}

// question asks about an Application whose sources are folders of manifests in the repository.
func (r *repository) question() Question {
	return Question{
		Fetcher: source.Fetcher{Commit: r.commit}, Ignore: here,
		ReadManifest: func(_ context.Context, r *release.Record) ([]render.Document, error) {
			return render.ReadDocuments(r.Manifest), nil
		},
	}
}

// lastApp is an Application whose last sync was from commitThen. More is added to its spec and its status.
func lastApp(t *testing.T, spec, status string) *api.Application {
	t.Helper()
	const from = "source: {repoURL: 'https://192.0.2.1/shop', path: web, targetRevision: main}"
	if !strings.Contains(status, "history:") {
		status += ", history: [{id: 1, revision: " + commitThen + ", " + from + "}]"
	}
	return api.Decoded(contentOf(t, head+"metadata: {name: web, namespace: argocd}, spec: {destination: {namespace: shop}, "+from+
		", syncPolicy: {syncOptions: [ServerSideApply=true]}"+spec+"}, status: {resources: [{version: v1, kind: ConfigMap, namespace: shop, name: web}]"+
		status+"}}"))
}

// configMap is ConfigMap web with this data in the sources, or "" without any.
func configMap(data string) string {
	if data == "" {
		return ""
	}
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: " + data + "\n"
}

// TestLastSync has what the sources said of ConfigMap web at the last sync and what they say now, the data of the live object with the keys
// of it that Argo CD owns, and what then counts as deployed: where it comes from, its data, and how many commits were fetched for that.
func TestLastSync(t *testing.T) {
	const (
		partial = ", operationState: {phase: Succeeded, operation: {sync: {resources: [{kind: Secret, name: x}]}}, syncResult: {revision: x, resources: []}}"
		full    = ", operationState: {phase: Succeeded, syncResult: {revision: x, resources: [{version: v1, kind: ConfigMap, namespace: shop, name: web}]}}"
		unnamed = ", history: [{id: 1, source: {repoURL: 'https://192.0.2.1/shop', path: web}}]"
		off     = ", history: [], operationState: {phase: Succeeded, syncResult: {revision: " + commitThen +
			", source: {repoURL: 'https://192.0.2.1/shop', path: web}}}"
		dry = ", operationState: {phase: Succeeded, operation: {sync: {dryRun: true}}, syncResult: {revision: x, resources: [" +
			"{version: v1, kind: ConfigMap, namespace: shop, name: web}]}}"
		failed = ", history: [], operationState: {phase: Failed, syncResult: {revision: " + commitThen +
			", source: {repoURL: 'https://192.0.2.1/shop', path: web}}}"
	)
	for name, c := range map[string]struct {
		then, now, live, owned string
		spec, status           string
		want, warning          string
	}{
		"in sync":                        {then: "{a: '1'}", now: "{a: '1'}", live: "{a: '1'}", owned: "a", want: "owned {a:1} 1"},
		"a field changed":                {then: "{a: '1'}", now: "{a: '2'}", live: "{a: '1'}", owned: "a", want: "rendered {a:1} 2"},
		"a field was edited":             {then: "{a: '1'}", now: "{a: '1'}", live: "{a: '9'}", want: "rendered {a:1} 2"},
		"it was edited and changed":      {then: "{a: '1'}", now: "{a: '2'}", live: "{a: '9'}", want: "rendered {a:1} 2"},
		"a field is new":                 {then: "{a: '1'}", now: "{a: '1', b: '2'}", live: "{a: '1'}", owned: "a", want: "rendered {a:1,b:} 2"},
		"a field is dropped":             {then: "{a: '1', b: '2'}", now: "{a: '1'}", live: "{a: '1', b: '2'}", owned: "a b", want: "rendered {a:1,b:2} 2"},
		"somebody added a field":         {then: "{a: '1'}", now: "{a: '1'}", live: "{a: '1', b: '9'}", owned: "a", want: "owned {a:1,b:} 1"},
		"a later sync failed":            {then: "{a: '1'}", now: "{a: '3'}", live: "{a: '2'}", owned: "a", want: "rendered {a:2} 2"},
		"Argo CD ignores it":             {then: "{a: '1'}", now: "{a: '1'}", live: "{a: '9'}", spec: ", ignoreDifferences: [{kind: ConfigMap, jsonPointers: [/data/a]}]", want: "owned {a:1} 1"},
		"it is dropped":                  {then: "{a: '1'}", live: "{a: '9', b: '2'}", owned: "b", want: "rendered {a:1,b:2} 2"},
		"it is dropped, and not its own": {live: "{a: '9'}", want: "owned {a:} 1"},
		"somebody else made it":          {now: "{a: '1'}", live: "{a: '9'}", want: "nothing 2"},
		"it is deleted":                  {then: "{a: '1'}", now: "{a: '2'}", status: full, want: "owned {a:2} 1"},
		"after a partial sync":           {then: "{a: '1'}", now: "{a: '2'}", status: partial, want: "rendered {a:1} 2"},
		"new after a partial sync":       {now: "{a: '2'}", status: partial, want: "nothing 2"},
		"new after a dry run":            {now: "{a: '2'}", status: dry, want: "nothing 2"},
		"without a history":              {then: "{a: '1'}", now: "{a: '2'}", live: "{a: '9'}", status: off, want: "rendered {a:1} 2"},
		"it never succeeded":             {then: "{a: '1'}", now: "{a: '2'}", live: "{a: '9'}", status: failed, want: "owned {a:2} 1"},
		"it has no revision": {then: "{a: '1'}", now: "{a: '2'}", live: "{a: '9'}", status: unnamed, want: "owned {a:2} 1",
			warning: "does not say which revision"},
		"the commit is gone": {then: "gone", now: "{a: '2'}", live: "{a: '9'}", want: "owned {a:2} 2", warning: "the server has no such commit"},
		"jsonnet":            {then: "jsonnet", now: "{a: '2'}", live: "{a: '9'}", want: "owned {a:2} 2", warning: "is jsonnet"},
	} {
		files := map[string]map[string]string{"main": {"web/web.yaml": configMap(c.now)}}
		switch c.then {
		case "gone":
		case "jsonnet":
			files[commitThen] = map[string]string{"web/web.jsonnet": ""}
		default:
			files[commitThen] = map[string]string{"web/web.yaml": configMap(c.then)}
		}
		from := drift.Connection{Cluster: keptCluster{fakeCluster{objects: map[object.Ref]map[string]any{}}}}
		ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, Version: "v1"}
		if c.live != "" {
			fields := ""
			if c.owned != "" {
				fields = "'f:data': {'f:" + strings.ReplaceAll(c.owned, " ", "': {}, 'f:") + "': {}}"
			}
			from.Cluster.(keptCluster).objects[ref] = contentOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop, annotations: "+
				"{argocd.argoproj.io/tracking-id: 'web:/ConfigMap:shop/web'}, managedFields: [{manager: argocd-controller, operation: Apply, apiVersion: v1, "+
				"fieldsType: FieldsV1, fieldsV1: {"+fields+"}}]}, data: "+c.live+"}")
		}
		r := newRepository(t, files)
		p, err := newPlan(t.Context(), from, r.question(), lastApp(t, c.spec, c.status))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("nothing %d", len(r.fetched))
		if len(p.deployed.documents) > 0 {
			var content struct{ Data map[string]string }
			if err := json.Unmarshal(p.deployed.documents[0].JSON, &content); err != nil {
				t.Fatal(err)
			}
			var data []string
			for _, key := range []string{"a", "b"} {
				if strings.Contains(c.then+c.now+c.live, key+":") {
					data = append(data, key+":"+content.Data[key])
				}
			}
			got = fmt.Sprintf("%s {%s} %d", p.deployed.from[ref.Key], strings.Join(data, ","), len(r.fetched))
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, c.want, p.warnings)
		}
		warnings := fmt.Sprint(p.warnings)
		if isSaid := strings.Contains(warnings, "the revision of the last sync could not be rendered"); isSaid != (c.warning != "") || !strings.Contains(warnings, c.warning) {
			t.Errorf("%s: the warnings are %s, want %q", name, warnings, c.warning)
		}
		p.Close()
	}
}

// TestLastSyncInTree has a working tree whose repository has the commit of the last sync, or lacks it, so that it is fetched.
func TestLastSyncInTree(t *testing.T) {
	files := map[string]string{"web/web.yaml": configMap("{a: '1'}")}
	r := newRepository(t, map[string]map[string]string{"tree": {"web/web.yaml": configMap("{a: '2'}")}, commitThen: files, "TREE": files})
	root := r.dirs["tree"]
	ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, Version: "v1"}
	from := drift.Connection{Cluster: keptCluster{fakeCluster{objects: map[object.Ref]map[string]any{
		ref: contentOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}, data: {a: '9'}}"),
	}}}}
	for _, isShallow := range []bool{false, true} {
		want := []string{root + " " + commitThen}
		if r.dirs[want[0]] = r.dirs["TREE"]; isShallow {
			delete(r.dirs, want[0])
			want = append(want, commitThen)
		}
		r.fetched = nil
		q := r.question()
		q.Tree = &Tree{Tree: worktree.Tree{Root: root, Remotes: []string{"git@192.0.2.1:shop.git"}}}
		p, err := newPlan(t.Context(), from, q, lastApp(t, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(r.fetched) != fmt.Sprint(want) || p.deployed.from[ref.Key] != "rendered" {
			t.Errorf("shallow %t: fetched %v, want %v; old is %s, %v", isShallow, r.fetched, want, p.deployed.from[ref.Key], p.warnings)
		}
		p.Close()
	}
}

// TestLastSyncOfChart has a chart of which the last sync had the version of now or another one, and values in another source that have
// changed.
func TestLastSyncOfChart(t *testing.T) {
	r := newRepository(t, map[string]map[string]string{"main": {"values.yaml": "'2'"}, commitThen: {"values.yaml": "'1'"}, "chart": {"Chart.yaml": "version: 1.2.3\n"}})
	ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, Version: "v1"}
	from := drift.Connection{Cluster: keptCluster{fakeCluster{objects: map[object.Ref]map[string]any{
		ref: contentOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}, data: {a: '9'}}"),
	}}}}
	sources := "sources: [{repoURL: 'https://192.0.2.1/charts', chart: web, targetRevision: 1.x, helm: {valueFiles: [$values/values.yaml]}}, " +
		"{repoURL: 'https://192.0.2.1/shop', targetRevision: main, ref: values}]"
	q := r.question()
	q.Fetch = func(_ context.Context, _ string, o fetch.Options) (string, func(), error) {
		r.fetched = append(r.fetched, o.Version)
		return r.dirs["chart"], func() {}, nil
	}
	q.Render = func(ctx context.Context, request drift.ChartRequest) (*drift.RenderedChart, error) {
		value, err := request.ReadFile(ctx, request.Values.Files[0])
		return &drift.RenderedChart{
			Manifest: render.ReadDocuments(configMap("{a: " + strings.TrimSpace(string(value)) + "}")), Rendered: render.Rendered{ChartVersion: "1.2.3"},
		}, err
	}
	for version, want := range map[string][]string{"1.2.3": {"1.x", "main", commitThen}, "1.2.2": {"1.x", "main", "1.2.2", commitThen}} {
		r.fetched = nil
		p, err := newPlan(t.Context(), from, q, api.Decoded(contentOf(t, head+"metadata: {name: web, namespace: argocd}, spec: {destination: {namespace: shop}, "+
			sources+"}, status: {resources: [{version: v1, kind: ConfigMap, namespace: shop, name: web}], history: [{id: 1, revisions: ["+version+", "+
			commitThen+"], "+sources+"}]}}")))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(r.fetched) != fmt.Sprint(want) || p.deployed.from[ref.Key] != "rendered" {
			t.Errorf("%s: fetched %v, want %v; old is %s, %v", version, r.fetched, want, p.deployed.from[ref.Key], p.warnings)
		} else if text := string(p.deployed.documents[0].JSON); !strings.Contains(text, `"a":"1"`) {
			t.Errorf("%s: deployed is %s", version, text)
		}
		p.Close()
	}
}

// TestLastSyncOfAnotherCluster asks with another version of Kubernetes, or with further API versions, about an Application that is synced to
// the revision of now. The chart has the field b for them alone: that is a change, and nobody removed b.
func TestLastSyncOfAnotherCluster(t *testing.T) {
	r := newRepository(t, map[string]map[string]string{commitThen: {"web/Chart.yaml": "version: 1.2.3\n"}})
	r.dirs["main"] = r.dirs[commitThen]
	ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, Version: "v1"}
	from := drift.Connection{Cluster: keptCluster{fakeCluster{objects: map[object.Ref]map[string]any{
		ref: contentOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}, data: {a: '1'}}"),
	}}}}
	for name, c := range map[string]struct {
		version string
		added   []string
		want    string
	}{
		"the cluster":           {want: `{"a":"1"}`},
		"another version":       {version: "1.40", want: `{"a":"1"}`},
		"a further API version": {added: []string{"ex.com/v1"}, want: `{"a":"1"}`},
	} {
		q := r.question()
		q.Commit = func(ctx context.Context, o source.CommitOrder) (string, string, func(), error) {
			dir, _, done, err := r.commit(ctx, o)
			return dir, commitThen, done, err
		}
		q.KubeVersion, q.APIVersions = c.version, c.added
		q.Render = func(_ context.Context, request drift.ChartRequest) (*drift.RenderedChart, error) {
			data := "{a: '1'}"
			if of := request.Capabilities; of.KubeVersion.Minor == "40" || of.APIVersions.Has("ex.com/v1") {
				data = "{a: '1', b: '2'}"
			}
			return &drift.RenderedChart{Manifest: render.ReadDocuments(configMap(data)), Rendered: render.Rendered{ChartVersion: "1.2.3"}}, nil
		}
		p, err := newPlan(t.Context(), from, q, lastApp(t, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		if len(p.deployed.documents) > 0 {
			text = string(p.deployed.documents[0].JSON)
		}
		if p.deployed.from[ref.Key] != "rendered" || !strings.Contains(text, `"data":`+c.want) {
			t.Errorf("%s: deployed is %s of %s, want the data %s; %v", name, text, p.deployed.from[ref.Key], c.want, p.warnings)
		}
		p.Close()
	}
}

// TestFetchedOnce fetches a commit that a branch has once, whichever of its names is asked for first.
func TestFetchedOnce(t *testing.T) {
	r := newRepository(t, map[string]map[string]string{"main": {}, commitThen: {}})
	k := &fetched{Question: r.question()}
	defer k.Close()
	q := k.question()
	for _, ref := range []string{"main", commitNow, "main", commitThen, commitNow} {
		if _, _, _, err := q.Commit(t.Context(), source.CommitOrder{URL: "https://192.0.2.1/shop", Ref: ref}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := fmt.Sprint(r.fetched), fmt.Sprint([]string{"main", commitThen}); got != want {
		t.Errorf("fetched %s, want %s", got, want)
	}
}

// TestUnexplained has an object of the sources, the same live with the fields that Argo CD owns, and whether only the last sync can say why
// they differ. What the server filled in, and what others added, is no difference.
func TestUnexplained(t *testing.T) {
	const (
		web     = "apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop"
		desired = "{" + web + "}, spec: {template: {spec: {containers: [{name: web, image: a, resources: {limits: {cpu: 1000m}}, args: [x]}]}}}}"
		thing   = "apiVersion: ex.com/v1, kind: Thing, metadata: {name: web, namespace: shop"
	)
	live := func(fields, image, more string) string {
		return "{" + web + ", managedFields: [{manager: argocd-controller, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {" +
			"'f:template': {'f:spec': {'f:containers': {'k:{\"name\":\"web\"}': {.: {}, 'f:name': {}, 'f:image': {}}" + fields + "}}}}}}]}, " +
			"spec: {replicas: 1, revisionHistoryLimit: 3, template: {spec: {restartPolicy: Always, containers: [{name: side, image: s}, {name: web, image: " + image +
			", args: [x], imagePullPolicy: Always, resources: {limits: {cpu: '1'}}}" + more + "]}}}}"
	}
	custom := func(fields, spec string) string {
		return "{" + thing + ", managedFields: [{manager: argocd-controller, operation: Apply, apiVersion: ex.com/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {" +
			fields + "}}}]}, spec: " + spec + "}"
	}
	for name, c := range map[string]struct {
		desired, live string
		want          bool
	}{
		"defaults and a sidecar": {desired, live("", "a", ""), false},
		"another image":          {desired, live("", "b", ""), true},
		"a container was dropped": {desired, live(", 'k:{\"name\":\"old\"}': {.: {}, 'f:name': {}, 'f:image': {}}", "a", ", {name: old, image: o}"),
			true},
		"a custom kind":                  {"{" + thing + "}, spec: {list: [{a: 1}]}}", custom("'f:list': {}", "{list: [{a: 1, b: 2}], c: 3}"), false},
		"a custom kind with other items": {"{" + thing + "}, spec: {list: [{a: 1}]}}", custom("'f:list': {}", "{list: [{a: 1}, {a: 2}]}"), true},
		"a custom kind lacks a field":    {"{" + thing + "}, spec: {list: [{a: 1}], d: 1}}", custom("'f:list': {}", "{list: [{a: 1}]}"), true},
		"a field of a custom kind was dropped": {"{" + thing + "}, spec: {list: [{a: 1}]}}", custom("'f:list': {}, 'f:c': {}", "{list: [{a: 1}], c: 3}"),
			true},
	} {
		o := object.Object{Content: contentOf(t, c.desired)}
		o.Ref = object.RefOf(o.Content)
		got := (&Plan{app: &api.Application{}}).isUnexplained(listed{ref: o.Ref, desired: &o, live: cluster.Live{Object: contentOf(t, c.live)}})
		if got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
