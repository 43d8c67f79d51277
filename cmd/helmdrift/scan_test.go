package main

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
)

// TestMissingNamespace checks that a namespace that does not exist is an error beside the releases of other places, and that the cluster is
// asked about namespaces only if one has no release.
func TestMissingNamespace(t *testing.T) {
	p, kubeconfig := settingsPlane(t)
	if err := p.change("/api/v1/namespaces/prod/configmaps/settings", func([]byte) ([]byte, error) {
		return []byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "prod",
			"labels": {"app.kubernetes.io/managed-by": "Helm"},
			"annotations": {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "prod"}}}`), nil
	}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	more := strings.NewReplacer("clusters:\n", "clusters:\n- {name: twin, cluster: {server: "+serverOf(string(text))+"}}\n",
		"contexts:\n", "contexts:\n- {name: stray, context: {cluster: fake, namespace: prdo}}\n- {name: twin, context: {cluster: twin}}\n")
	if err := os.WriteFile(kubeconfig, []byte(more.Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	p.meanwhile = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/namespaces") {
			asked.Add(1)
		}
	}
	const missing, inTwin = "there is no namespace prdo in cluster fake (did you mean -n prod?)", "there is no namespace prdo in cluster twin"
	for _, test := range []struct {
		args  string
		code  int
		asked int32
		says  []string
	}{
		{"diff -n prod,prdo", 1, 1, []string{missing, "1 release: 1 clean"}},
		{"diff -n prod,prdo,elsewhere", 1, 2, []string{missing, "there is no namespace elsewhere in cluster fake\n"}},
		{"diff -n prdo,prdos", 1, 2, []string{missing, "there is no namespace prdos in cluster fake"}},
		{"list -n prod,prdo", 1, 1, []string{missing, "1 release: 1 deployed"}},
		{"diff --contexts fake,stray", 1, 1, []string{missing, "1 release: 1 clean"}},
		{"diff --contexts fake,twin -n prdo", 1, 2, []string{missing, inTwin}},
		{"diff -n prod,prdo -o json", 1, 1, []string{`"namespace": "prdo",`, `"code": "not-found"`}},
		{"diff web -n prod,prdo", 1, 0, []string{"there is no release web in namespace prdo (web is in prod)"}},
		{"diff -n prdo", 1, 1, []string{"there are no releases in namespace prdo, and there is no such namespace"}},
		// Of several shards, the first one says so.
		{"diff -n prod,prdo --shard 0/2", 1, 1, []string{missing}},
		{"diff -n prod,prdo --shard 1/2", 0, 0, nil},
		{"diff -n prdo --shard 0/2", 1, 1, []string{missing}},
		{"diff -n prdo --shard 1/2", 0, 0, nil},
		// What is there costs no request, and a namespace without a release is no error.
		{"diff -n prod,staging", 0, 1, nil},
		{"list -n prod", 0, 0, nil},
		{"diff --contexts fake,twin -n prod", 0, 0, nil},
		{"diff -n prod --filter ^none$ --shard 0/2", 0, 0, nil},
	} {
		asked.Store(0)
		var out bytes.Buffer
		code := run(t.Context(), append(strings.Fields(test.args), "--kubeconfig", kubeconfig), cli.Streams{Out: &out, Err: &out, Env: emptyEnv})
		if code != test.code || asked.Load() != test.asked {
			t.Errorf("%s: code %d, and namespaces were listed %d times\n%s", test.args, code, asked.Load(), out.String())
		}
		for _, want := range test.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", test.args, want, out.String())
			}
		}
		if test.code == 0 && strings.Contains(out.String(), "there is no") {
			t.Errorf("%s:\n%s", test.args, out.String())
		}
	}

	// A role that may not list namespaces does not learn that one is missing.
	p.faults["GET namespaces"] = fault{http.StatusForbidden, "namespaces is forbidden"}
	var out bytes.Buffer
	code := run(t.Context(), []string{"diff", "-n", "prod,prdo", "--kubeconfig", kubeconfig}, cli.Streams{Out: &out, Err: &out, Env: emptyEnv})
	if code != 0 || strings.Contains(out.String(), "prdo") {
		t.Errorf("code %d\n%s", code, out.String())
	}
}

// serverOf returns the address of the server of a kubeconfig of a plane, in quotes.
func serverOf(kubeconfig string) string {
	_, rest, _ := strings.Cut(kubeconfig, "server: ")
	server, _, _ := strings.Cut(rest, "}")
	return server
}
