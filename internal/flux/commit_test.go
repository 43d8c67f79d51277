package flux

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestMoves has a tree that changes the GitRepository of a chart, and says what is fetched of it: the commit that source-controller has, or
// what it fetches after the change.
func TestMoves(t *testing.T) {
	const format = "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: git, namespace: shop%s}, " +
		"spec: {interval: %s, %s}%s}"
	const owned = ", generation: 4, managedFields: [{manager: kustomize-controller, operation: Apply, " +
		"apiVersion: source.toolkit.fluxcd.io/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:interval': {}, 'f:url': {}, 'f:suspend': {}, 'f:ref': {'f:branch': {}, 'f:tag': {}}}}}]"
	const had = "0123456789abcdef0123456789abcdef01234567"
	const web = "url: 'https://192.0.2.1/shop/web', "
	before := web + "ref: {branch: main, tag: v1.2.0}"
	for name, tt := range map[string]struct {
		now, interval string
		// before is what the cluster has if that is not the above, and isUnseen is set if source-controller has not looked at it.
		before   string
		isUnseen bool
		ref      string
		revision string
		moves    bool
	}{
		"nothing":                {now: before, ref: had, revision: "0123456789ab"},
		"its interval":           {now: before, interval: "5m", ref: had, revision: "0123456789ab"},
		"its tag":                {now: web + "ref: {branch: main, tag: v1.3.0}", ref: "refs/tags/v1.3.0", moves: true},
		"its tag, which wins":    {now: web + "ref: {semver: 1.x, tag: v1.3.0}", ref: "refs/tags/v1.3.0", moves: true},
		"its branch":             {now: web + "ref: {branch: next}", ref: "refs/heads/next", moves: true},
		"to the default branch":  {now: web, ref: "refs/heads/master", moves: true},
		"its name":               {now: web + "ref: {tag: v1, name: refs/pull/1/head}", ref: "refs/pull/1/head", moves: true},
		"its name, with the end": {now: web + "ref: {name: 'refs/tags/v1^{}'}", ref: "refs/tags/v1", moves: true},
		"its commit": {now: web + "ref: {branch: main, commit: fedcba9876543210}",
			ref: "fedcba9876543210", revision: "fedcba987654", moves: true},
		"to a range of versions":       {now: web + "ref: {semver: 1.x}", moves: true},
		"its address":                  {now: strings.Replace(before, "web", "api", 1), ref: "refs/tags/v1.2.0", moves: true},
		"what it leaves out":           {now: before + ", ignore: /docs", ref: "refs/tags/v1.2.0", moves: true},
		"what it includes":             {now: before + ", include: [{repository: {name: x}}]", ref: "refs/tags/v1.2.0", moves: true},
		"its submodules":               {now: before + ", recurseSubmodules: true", ref: "refs/tags/v1.2.0", moves: true},
		"its folders":                  {now: before + ", sparseCheckout: [charts]", ref: "refs/tags/v1.2.0", moves: true},
		"its tag, while suspended":     {now: web + "ref: {tag: v1.3.0}, suspend: true", ref: had, revision: "0123456789ab"},
		"not looked at yet":            {now: before, isUnseen: true, ref: "refs/tags/v1.2.0", moves: true},
		"it is not suspended any more": {now: before, before: before + ", suspend: true", isUnseen: true, ref: "refs/tags/v1.2.0", moves: true},
		"it is new":                    {now: before, before: "none", ref: "refs/tags/v1.2.0", moves: true},
	} {
		t.Run(name, func(t *testing.T) {
			from := fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1"},
				Objects: map[object.Ref]map[string]any{}}
			observed := 4
			if tt.isUnseen {
				observed = 3
			}
			ref, live := fluxtest.Decoded(t, format, owned, "1m", cmp.Or(tt.before, before),
				fmt.Sprintf(", status: {observedGeneration: %d, artifact: {revision: 'v1.2.0@sha1:%s'}}", observed, had))
			if tt.before != "none" {
				from.Objects[ref] = live
			}
			chart, made := fluxtest.Decoded(t, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmChart, metadata: {name: shop-web, "+
				"namespace: shop, generation: 1}, spec: {chart: web, version: '*', sourceRef: {kind: GitRepository, name: git}, reconcileStrategy: Revision}, "+
				"status: {observedGeneration: 1, conditions: [{type: Stalled, status: 'True', message: no such chart}], artifact: {revision: 1.0.0}}}")
			from.Objects[chart] = made
			_, now := fluxtest.Decoded(t, format, "", cmp.Or(tt.interval, "1m"), tt.now, "")
			text, err := json.Marshal(now)
			if err != nil {
				t.Fatal(err)
			}
			laid := laidOver(t, from, tree.Problem{}, string(text))
			asked := CommitOrder{}
			q := Question{Tree: laid, Commit: func(_ context.Context, o CommitOrder) (string, func(), error) {
				asked = o
				return "", nil, errors.New("the server does not answer")
			}}
			h := helmRelease(t, "  chart: {spec: {chart: web, reconcileStrategy: Revision, sourceRef: {kind: GitRepository, name: git}}}")
			p := &Plan{reading: laid.Over, tree: laid, release: h}
			path, err := p.findChart(t.Context(), q)
			if path != "" || err != nil || asked.Ref != tt.ref || p.offer.moves != tt.moves {
				t.Errorf("%q is fetched, and it moves: %t; want %q and %t; %v", asked.Ref, p.offer.moves, tt.ref, tt.moves, err)
			}
			if waits := p.offer.waits; (waits == "") != tt.moves {
				t.Errorf("it moves: %t, and Flux waits because %q", tt.moves, waits)
			}
			want := "+" + cmp.Or(tt.revision, "helmdrift-unknown-5d1c7e")
			if got := "+" + p.offer.order.Metadata; got != want {
				t.Errorf("the version ends with %s, want %s", got, want)
			}
			what := map[bool]string{true: "GitRepository shop/git: " + tt.ref + ": ", false: "GitRepository shop/git: commit " + tt.revision + ": "}
			if isRef := strings.HasPrefix(tt.ref, "refs/"); tt.ref != "" && !strings.HasPrefix(fmt.Sprint(p.unfetched), what[isRef]) {
				t.Errorf("%v, want %q", p.unfetched, what[isRef])
			}
			if why := p.noChart(); tt.ref == "" && (!strings.HasSuffix(why.Error(), "has not chosen a tag for its range of versions yet") ||
				hint.Of(why) != "--local-source GitRepository/shop/git=FOLDER says where its content is") {
				t.Errorf("%v; %s", why, hint.Of(why))
			}
		})
	}
}

// TestMovesBucket has a tree that changes a Bucket that helmdrift cannot read.
func TestMovesBucket(t *testing.T) {
	const format = `{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"Bucket",` +
		`"metadata":{"name":"files","namespace":"shop","generation":4},"spec":{"provider":"azure","endpoint":"files.example.com","bucketName":"charts","interval":"%s","prefix":"%s"},` +
		`"status":{"observedGeneration":4,"artifact":{"revision":"sha256:0123456789abcdef"}}}`
	from := fluxtest.Served{Versions: []string{"source.toolkit.fluxcd.io/v1"}, Objects: map[object.Ref]map[string]any{}}
	ref, live := fluxtest.Decoded(t, format, "1m", "a/")
	from.Objects[ref] = live
	h := helmRelease(t, "  chart: {spec: {chart: web, sourceRef: {kind: Bucket, name: files}}}")
	for now, want := range map[string]bool{fmt.Sprintf(format, "5m", "a/"): false, fmt.Sprintf(format, "1m", "b/"): true} {
		laid := laidOver(t, from, tree.Problem{}, now)
		if o, err := offerOf(t.Context(), h, laid.Over, Question{Tree: laid}); err != nil || o.moves != want || o.unread == "" {
			t.Errorf("%s: it moves: %t, %v", now, o.moves, err)
		}
	}
}

// TestChartInTree asks where the chart in a GitRepository with the address of the tree comes from: the tree, unless the GitRepository is
// suspended after the merge.
func TestChartInTree(t *testing.T) {
	const format = "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: git, namespace: shop, generation: 4, " +
		"managedFields: [{manager: %s, operation: Apply, apiVersion: source.toolkit.fluxcd.io/v1, fieldsType: FieldsV1, " +
		"fieldsV1: {'f:spec': {'f:suspend': {}}}}]}, spec: {interval: 1m, url: 'https://192.0.2.1/shop/web', ref: {branch: main}%s}, " +
		"status: {observedGeneration: 4, artifact: {revision: 'main@sha1:0123456789abcdef0123456789abcdef01234567'}}}"
	const had = "commit 0123456789abcdef0123456789abcdef01234567"
	const suspended = ", suspend: true"
	for name, tt := range map[string]struct {
		manager, live, now string
		isLocal            bool
		want               string
		// notUsed is a field that changes which files the source has.
		notUsed string
		// isHeld is set if the HelmChart is suspended, and waits if Flux waits for it.
		isHeld, waits bool
	}{
		"as it is":                                   {want: "the tree"},
		"suspended by the tree":                      {now: suspended, want: had, waits: true},
		"suspended in the cluster":                   {manager: "flux", live: suspended, want: had, waits: true},
		"suspended, and by the tree":                 {manager: "flux", live: suspended, now: suspended, want: had, waits: true},
		"the tree ends it":                           {manager: "flux", live: suspended, now: ", suspend: false", want: "the tree"},
		"kustomize-controller removes it":            {live: suspended, want: "the tree"},
		"suspended, and the user has a folder":       {now: suspended, isLocal: true, want: "the user's folder", waits: true},
		"the HelmChart is suspended":                 {isHeld: true, want: "the tree", waits: true},
		"with files of others":                       {now: ", include: [{repository: {name: x}}]", want: "the tree", notUsed: "spec.include"},
		"with submodules":                            {now: ", recurseSubmodules: true", want: "the tree", notUsed: "spec.recurseSubmodules"},
		"with some folders":                          {now: ", sparseCheckout: [web]", want: "the tree", notUsed: "spec.sparseCheckout"},
		"with submodules, and the user has a folder": {now: ", recurseSubmodules: true", isLocal: true, want: "the user's folder"},
	} {
		t.Run(name, func(t *testing.T) {
			from := fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1"},
				Objects: map[object.Ref]map[string]any{}}
			ref, live := fluxtest.Decoded(t, format, cmp.Or(tt.manager, "kustomize-controller"), tt.live)
			from.Objects[ref] = live
			_, now := fluxtest.Decoded(t, format, "", tt.now)
			now["metadata"], now["status"] = map[string]any{"name": "git", "namespace": "shop"}, nil
			text, err := json.Marshal(now)
			if err != nil {
				t.Fatal(err)
			}
			order := tree.Order{Root: "the tree", Remotes: []string{"https://192.0.2.1/shop/web.git"}}
			if tt.isLocal {
				order.Sources = []tree.LocalSource{{Kind: "GitRepository", Namespace: "shop", Name: "git", Dir: "the user's folder"}}
			}
			chart, made := fluxtest.Decoded(t, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmChart, metadata: {name: shop-web, "+
				"namespace: shop, generation: 1}, spec: {chart: web, version: '*', sourceRef: {kind: GitRepository, name: git}, suspend: %t}, "+
				"status: {observedGeneration: %d, conditions: [{type: Stalled, status: 'True', message: no such chart}], "+
				"artifact: {revision: 1.0.0}}}", tt.isHeld, map[bool]int{true: 0, false: 1}[tt.isHeld])
			from.Objects[chart] = made
			laid := laidFor(t, order, from, tree.Problem{}, string(text))
			got := ""
			q := Question{Tree: laid, Chart: &drift.Chart{}, Commit: func(_ context.Context, o CommitOrder) (string, func(), error) {
				got = "commit " + o.Ref
				return "", nil, errors.New("the server does not answer")
			}, Prepare: func(_ context.Context, o ChartOrder) (ChartAnswer, error) {
				got = o.Artifact.Dir
				return ChartAnswer{}, errors.New("that is all")
			}}
			h := helmRelease(t, "  chart: {spec: {chart: web, sourceRef: {kind: GitRepository, name: git}}}")
			p := &Plan{reading: laid.Over, tree: laid, release: h}
			if _, err := p.findChart(t.Context(), q); got != tt.want {
				t.Errorf("the chart comes from %q, want %q; %v", got, tt.want, err)
			}
			if waits := p.offer.waits; waits != "" != tt.waits {
				t.Errorf("Flux waits because %q, want %t", waits, tt.waits)
			}
			var doubts []string
			if !tt.waits {
				doubts = append(doubts, "HelmChart shop/shop-web is not ready: no such chart; the files that come next may change that")
			}
			if tt.notUsed != "" {
				doubts = append(doubts, tt.notUsed+" of GitRepository shop/git is not used: the chart may have other files")
			}
			if !slices.Equal(p.offer.doubts, doubts) {
				t.Errorf("it doubts %q, want %q", p.offer.doubts, doubts)
			}
		})
	}
}
