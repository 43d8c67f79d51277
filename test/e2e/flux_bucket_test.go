package e2e

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/internal/flux/bucket/buckettest"
)

var fluxBuckets = flag.Int("flux.buckets", 10, "how many random scripts of TestFlux have the chart in a bucket; -flux.seed is the first")

// fluxBucket is the server of the buckets of all scripts, and its host.
type fluxBucket struct {
	*buckettest.Server
	host string
}

// storyBuckets returns that server. It starts with the first script that needs it, and ends with the process. Each script has a bucket of
// its own, which is called like its namespace.
var storyBuckets = sync.OnceValue(func() fluxBucket {
	out := fluxBucket{Server: &buckettest.Server{AccessKey: "judge", SecretKey: "longsecretkey"}}
	out.host = strings.TrimPrefix(httptest.NewServer(out).URL, "http://")
	return out
})

// put makes the files of a folder of the script the objects of its bucket. Each folder charts/NAME is also packaged as packed/NAME.tgz.
func (b fluxBucket) put(c *Case, dir string) error {
	objects, root := map[string][]byte{}, filepath.Join(c.dir, dir)
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		key, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		objects[filepath.ToSlash(key)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		return err
	}
	charts, err := filepath.Glob(filepath.Join(root, "charts", "*"))
	if err != nil {
		return err
	}
	for _, name := range charts {
		chart, err := loader.Load(name)
		if err != nil {
			return err
		}
		packed, err := chartutil.Save(chart, c.dir)
		if err != nil {
			return err
		}
		if objects["packed/"+chart.Name()+".tgz"], err = os.ReadFile(filepath.Clean(packed)); err != nil {
			return err
		}
	}
	b.Put(c.ns, objects)
	return nil
}

// reconcile makes the Bucket of the script, files, and its Secret, and asks Flux to look at it. It waits until Flux and the charts in it
// have.
func (b fluxBucket) reconcile(c *Case) error {
	now := time.Now().Format(time.RFC3339Nano)
	err := c.cluster.serverApply(context.Background(), fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {accesskey: %q, secretkey: %q}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: Bucket
metadata: {name: files, annotations: {%s: %q}}
spec: {endpoint: %q, insecure: true, bucketName: %q, secretRef: {name: keys}, interval: 1h}
`, b.AccessKey, b.SecretKey, reconcileRequest, now, b.host, c.ns), c.ns, "kubectl")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), fluxTimeout)
	defer cancel()
	revision, conditions := "", ""
	r, err := c.ref("buckets.source.toolkit.fluxcd.io/files")
	if err != nil {
		return err
	}
	err = c.cluster.waitFor(ctx, r, "its reconciliation", func(o *unstructured.Unstructured) bool {
		handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
		revision, _, _ = unstructured.NestedString(o.Object, "status", "artifact", "revision")
		conditions = conditionsOf(o)
		ready, _ := conditionOf(o, "Ready")
		return handled == now && ready == "True" && isSettled(o)
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, conditions)
	}
	charts, err := (&fluxTree{Case: c}).list("helmcharts.source.toolkit.fluxcd.io")
	if err != nil {
		return err
	}
	for _, chart := range charts {
		r, err := c.ref("helmcharts.source.toolkit.fluxcd.io/" + chart.GetName())
		if err != nil {
			return err
		}
		err = c.cluster.waitFor(ctx, r, "the revision of its bucket", func(o *unstructured.Unstructured) bool {
			observed, _, _ := unstructured.NestedString(o.Object, "status", "observedSourceArtifactRevision")
			return observed == revision && isSettled(o)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// newBucketScript returns the random script of a seed whose chart is in a bucket: in a folder, or in an archive. It has the files of a
// script that exists, the chart among them.
func newBucketScript(seed uint64, files []txtar.File) []byte {
	s := &fluxScript{Rand: rand.New(rand.NewPCG(seed, 13)), name: "web", deployed: "web", chart: "files/charts/web", publish: "bucket files",
		flags: " --with-source-credentials"}
	chart := func(spec string) { s.patch("{chart: {spec: {" + spec + "}}}") }
	s.others = []func(){
		func() { chart("reconcileStrategy: " + s.pick("Revision", "Revision", "ChartVersion")) },
		func() {
			chart("valuesFiles: " + s.pick("null", "[shared.yaml]", "[charts/web/values.yaml, ./shared.yaml]",
				"[shared.yaml, charts/web/values.yaml]", "[charts/web/values.yaml, absent.yaml]") + ", ignoreMissingValuesFiles: true")
		},
		func() { chart("chart: " + s.pick("charts/web", "./charts/web", "packed/web.tgz", "charts/web/")) },
		func() { // an object beside the chart: the bucket has another revision
			s.line(`exec sed -i 's/.*/note %d/' files/README.md`, s.IntN(9))
			s.line(s.publish)
		},
		func() {
			s.line(`exec sed -i 's/^greeting: .*/greeting: shared%d/' files/shared.yaml`, s.IntN(9))
			s.line(s.publish)
		},
		func() { // rules that leave out objects
			s.line(`exec sed -i 's/.*/%s/' files/.sourceignore`, s.pick(`# nothing`, `\/README.md`, `*.md`, `notes\/`, `\/*.md\n!README.md`))
			s.line(s.publish)
		},
		func() {
			s.line("patch flux buckets.source.toolkit.fluxcd.io/files '{spec: {ignore: %s}}'",
				s.pick("null", `"notes/"`, `"*.md\n!/README.md\n"`, `"/charts/web/templates/extra.yaml"`))
			s.line(s.publish)
		},
	}
	out := []txtar.File{}
	for _, f := range files {
		f.Name = strings.Replace(f.Name, "chart/", "files/charts/web/", 1)
		f.Data = []byte(strings.ReplaceAll(string(f.Data), "chart: web, sourceRef: {kind: HelmRepository, name: charts}",
			"chart: charts/web, sourceRef: {kind: Bucket, name: files}"))
		out = append(out, f)
	}
	out = append(out, txtar.File{Name: "files/README.md", Data: []byte("note\n")}, txtar.File{Name: "files/.sourceignore", Data: []byte("# nothing\n")},
		txtar.File{Name: "files/shared.yaml", Data: []byte("replicas: 1\ngreeting: shared\ntop: {d: 1}\n" +
			"image: {repository: nginx, tag: 1.26-shared}\n")},
		txtar.File{Name: "files/notes/a b+c.txt", Data: []byte("a name that is escaped\n")},
		txtar.File{Name: "files/charts/web/templates/extra.yaml",
			Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {a: b}\n")})
	return s.run("bucket", seed, out)
}
