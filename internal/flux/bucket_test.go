package flux

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/bucket"
	"github.com/helmdrift/helmdrift/internal/flux/bucket/buckettest"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// startBucket starts a server with a bucket that has two charts, and returns its host.
func startBucket(t *testing.T) (*buckettest.Server, string) {
	t.Helper()
	server := &buckettest.Server{AccessKey: "reader", SecretKey: "longsecretkey"}
	server.Put("charts", map[string][]byte{
		"web/Chart.yaml": []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"), "web/values.yaml": []byte("a: 1\n"), "prod.yaml": []byte("a: 2\n"),
		"api/Chart.yaml": []byte("apiVersion: v2\nname: api\nversion: 2.0.0\n"), "api/values.yaml": []byte("a: 1\n"),
	})
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	return server, strings.TrimPrefix(listening.URL, "http://")
}

// planOfBucket returns a plan without a chart yet. The HelmRelease takes a chart from a Bucket with a spec and a status.
func planOfBucket(t *testing.T, chart, spec, status string) *Plan {
	t.Helper()
	source := map[string]any{}
	if err := yaml.Unmarshal([]byte("{metadata: {namespace: shop, name: files}, spec: {"+spec+"}, status: {"+status+"}}"), &source); err != nil {
		t.Fatal(err)
	}
	p := &Plan{
		release: helmRelease(t, "  chart: {spec: {"+chart+", sourceRef: {kind: Bucket, name: files}}}"),
		reading: fluxtest.Objects{
			"Bucket/files": source, "Secret/half": {"data": map[string]any{"accesskey": "cmVhZGVy"}},
			"Secret/keys": {"data": map[string]any{"accesskey": "cmVhZGVy", "secretkey": "bG9uZ3NlY3JldGtleQ=="}},
		},
	}
	t.Cleanup(p.Close)
	return p
}

// bucketQuestion returns a question whose functions work in this process.
func bucketQuestion() Question {
	return Question{Known: &secret.Known{}, Prepare: PrepareChart, Chart: &drift.Chart{}, Bucket: Buckets(fetch.Options{}, time.Minute, 0)}
}

// TestBucketChart checks which chart a HelmRelease gets from a Bucket, and what is said if it gets none. HOST is the server.
func TestBucketChart(t *testing.T) {
	_, host := startBucket(t)
	const (
		spec = "endpoint: HOST, insecure: true, bucketName: charts, secretRef: {name: keys}"
		// other is the revision of another content.
		other = "sha256:0123456789abcdef"
	)
	ready := func(revision string) string { return "artifact: {revision: '" + revision + "'}" }
	for name, tt := range map[string]struct {
		chart, spec, status    string
		without                bool // --with-source-credentials
		username, password     string
		want, warns, lacks, no string
	}{
		"a chart":             {"chart: web", spec, "", false, "", "", "web 1.0.0", "", "", ""},
		"with another path":   {"chart: ./web/", spec, "", false, "", "", "web 1.0.0", "", "", ""},
		"with values files":   {"chart: web, valuesFiles: [prod.yaml]", spec, "", false, "", "", "web 1.0.0+1", "", "", ""},
		"with the revision":   {"chart: web, reconcileStrategy: Revision", spec, "", false, "", "", "web 1.0.0+REV", "", "", ""},
		"with both":           {"chart: web, reconcileStrategy: Revision, valuesFiles: [prod.yaml]", spec, "", false, "", "", "web 1.0.0+REV.1", "", "", ""},
		"with the user's":     {"chart: web", spec, "", true, "reader", "longsecretkey", "web 1.0.0", "", "", ""},
		"as Flux has it":      {"chart: web", spec, ready("REVISION"), false, "", "", "web 1.0.0", "", "", ""},
		"Flux has another":    {"chart: web, reconcileStrategy: Revision", spec, ready(other), false, "", "", "web 1.0.0+REV", "it has revision 0123456789ab, and the bucket REV", "", ""},
		"another digest":      {"chart: web", spec, ready("sha512:0123456789abcdef"), false, "", "", "web 1.0.0", "the digest in its revision is not sha256", "", ""},
		"suspended, the same": {"chart: web", spec + ", suspend: true", ready("REVISION"), false, "", "", "web 1.0.0", "", "", ""},
		"suspended, another":  {"chart: web", spec + ", suspend: true", ready(other), false, "", "", "", "", "Bucket shop/files is suspended, and its objects are not those", ""},
		"no such chart":       {"chart: db", spec, "", false, "", "", "", "", "Bucket shop/files has no object db or below it", ""},
		"another prefix":      {"chart: web", spec + ", prefix: api", "", false, "", "", "", "", "Bucket shop/files has no object web or below it", ""},
		"left out":            {"chart: web", spec + ", ignore: /web", "", false, "", "", "", "", "Bucket shop/files has no object web or below it", ""},
		"no credentials":      {"chart: web", spec, "", true, "", "", "", "", "403 AccessDenied; the source has a secretRef: --with-source-credentials uses its keys", ""},
		"none at all":         {"chart: web", "endpoint: HOST, insecure: true, bucketName: charts", "", false, "", "", "", "", "403 AccessDenied; --username and --password give", ""},
		"half a Secret":       {"chart: web", strings.Replace(spec, "keys", "half", 1), "", false, "", "", "", "", "Secret shop/half has no accesskey and secretkey for Bucket shop/files", ""},
		"no Secret":           {"chart: web", strings.Replace(spec, "keys", "gone", 1), "", false, "", "", "", "", "Secret shop/gone, with the credentials of Bucket shop/files, does not exist", ""},
		"a metadata service":  {"chart: web", strings.Replace(spec, "HOST", "169.254.169.254", 1), "", false, "", "", "", "", "spec.endpoint of Bucket shop/files has the address 169.254.169.254, where a cloud serves credentials", ""},
		"a certificate":       {"chart: web", spec + ", certSecretRef: {name: tls}, proxySecretRef: {name: proxy}", "", false, "", "", "web 1.0.0", "", "", ""},
		"azure":               {"chart: web", spec + ", provider: azure", "", false, "", "", "", "", "", "which helmdrift does not fetch: the provider azure has another API than S3"},
		"aws by itself":       {"chart: web", "endpoint: HOST, bucketName: charts, provider: aws", "", false, "", "", "", "", "", "the provider aws without a secretRef is for the identity of source-controller"},
		"sts":                 {"chart: web", "endpoint: HOST, bucketName: charts, sts: {provider: ldap}", "", false, "", "", "", "", "", "spec.sts gives keys to source-controller alone"},
	} {
		t.Run(name, func(t *testing.T) {
			q := bucketQuestion()
			listing, _, err := q.Bucket(t.Context(), bucket.Source{Endpoint: host, Insecure: true, Name: "charts", AccessKey: "reader", SecretKey: "longsecretkey"})
			if err != nil {
				t.Fatal(err)
			}
			filled := strings.NewReplacer("HOST", host, "REVISION", listing.Revision(), "REV", shortDigest(listing.Revision()))
			q.WithCredentials, q.Source.Username, q.Source.Password = !tt.without, tt.username, tt.password
			p := planOfBucket(t, tt.chart, filled.Replace(tt.spec), filled.Replace(tt.status))
			path, err := p.findChart(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(p.chart.name + " " + p.chart.version); got != filled.Replace(tt.want) || (path != "") != (got != "") {
				t.Errorf("the chart is %q at %q, want %q", got, path, filled.Replace(tt.want))
			}
			said := ""
			for _, m := range p.warnings {
				said += m.Message + "\n"
			}
			if want := filled.Replace(tt.warns); !strings.Contains(said, want) || want == "" && said != "" {
				t.Errorf("it warns of %q, want %q", said, want)
			}
			lacks := ""
			for _, m := range p.problems {
				lacks += m.Message + "\n"
			}
			if !strings.Contains(lacks, tt.lacks) || tt.lacks == "" && lacks != "" {
				t.Errorf("it lacks %q, want %q", lacks, tt.lacks)
			}
			if tt.no != "" && (path != "" || !strings.Contains(hint.Sentence(p.noChart()), tt.no)) {
				t.Errorf("%q, %v", path, p.noChart())
			}
			if strings.Contains(said+lacks, "longsecretkey") || tt.spec == spec && !tt.without && q.Known.Scrub("longsecretkey") == "longsecretkey" {
				t.Error("the secret key is not known")
			}
		})
	}
}

// TestBucketOnce checks that HelmReleases of a fleet list a bucket once, and fetch each chart once.
func TestBucketOnce(t *testing.T) {
	server, host := startBucket(t)
	var files deployer.Fetched
	q := bucketQuestion().kept(&files)
	q.WithCredentials = true
	for _, chart := range []string{"web", "api", "web", "api"} {
		p := planOfBucket(t, "chart: "+chart, "endpoint: '"+host+"', insecure: true, bucketName: charts, secretRef: {name: keys}", "")
		if _, err := p.findChart(t.Context(), q); err != nil || p.chart.name != chart || len(p.problems) > 0 {
			t.Errorf("%s: %+v, %v, %v", chart, p.chart, p.problems, err)
		}
	}
	// The region, .sourceignore, the list, and two objects of each chart.
	if asked := server.Asked(); len(asked) != 7 {
		t.Errorf("%q", asked)
	}
	files.Close()
}
