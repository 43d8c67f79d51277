package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestCopiedRecord restores a backup of the namespace prod as staging, so that the record there names prod. Helm, called with -n staging,
// writes to staging. diff warns that it compares prod, and fix writes nothing there unless a flag names it.
func TestCopiedRecord(t *testing.T) {
	for _, by4 := range []bool{false, true} {
		t.Run(fmt.Sprint("helm4=", by4), func(t *testing.T) {
			t.Parallel()
			testCopiedRecord(t, by4)
		})
	}
}

func testCopiedRecord(t *testing.T, by4 bool) {
	c := newCase(t, suite.cluster)
	prod := c.ns
	staging, err := c.newNamespace("staging")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(c.dir, "flags.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: flags}\ndata: {mode: fast}\n"), 0o600))
	must(t, c.helm(by4, "install", "flags.yaml"))
	must(t, c.patch("kubectl-edit", "configmap/flags", "{data: {mode: edited}}"))
	must(t, c.copyRecord(staging))
	c.storage = staging

	out, err := c.diff(c.release)
	must(t, err)
	if lines := out.report.lines(); out.exit != 2 || lines[0] != "warning record-elsewhere" {
		t.Errorf("exit %d\n%s", out.exit, strings.Join(lines, "\n"))
	}
	text, err := c.binary("diff", c.release)
	must(t, err)
	first, answer, _ := strings.Cut(text.stdout, "\n")
	if !strings.Contains(first, "in "+prod) || !strings.HasPrefix(answer, "  DRIFTED   the record in "+staging+" may be a copy, ") || strings.Contains(text.stdout, "helmdrift fix") {
		t.Errorf("%s", text.stdout)
	}

	for _, args := range [][]string{{"fix", c.release, "--yes"}, {"fix", c.release, "--dry-run"}, {"diff", c.release, "--fix", "--yes"},
		{"fix", c.release, "--yes", "--target-namespace", staging}} {
		refused, err := c.binary(args...)
		must(t, err)
		if refused.exit != 1 || !strings.Contains(refused.stderr, prod) || !strings.Contains(refused.stderr, staging) || !strings.Contains(refused.stderr, "--target-namespace") {
			t.Errorf("%v: exit %d\n%s", args, refused.exit, refused.stderr)
		}
		wantMode(t, c, prod, "edited")
	}

	allowed, err := c.binary("fix", c.release, "--yes", "--target-namespace", prod)
	must(t, err)
	if allowed.exit != 0 {
		t.Errorf("exit %d\n%s%s", allowed.exit, allowed.stdout, allowed.stderr)
	}
	wantMode(t, c, prod, "fast")

	must(t, c.patch("kubectl-edit", "configmap/flags", "{data: {mode: edited}}"))
	c.ns = staging // as helm -n staging
	must(t, c.helm(by4, "upgrade", "flags.yaml"))
	wantMode(t, c, prod, "edited")
	wantMode(t, c, staging, "fast")
	made, err := c.cluster.get(context.Background(), ref{"configmap", staging, "flags"})
	must(t, err)
	if named := made.GetAnnotations()["meta.helm.sh/release-namespace"]; named != prod {
		t.Errorf("the release annotation names %s", named)
	}
}

// copyRecord copies the records of the release, as a backup does that is restored under another name.
func (c *Case) copyRecord(to string) error {
	secrets := c.cluster.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"})
	all, err := secrets.Namespace(c.storage).List(context.Background(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		return err
	}
	for _, record := range all.Items {
		copied := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": record.Object["type"], "data": record.Object["data"]}}
		copied.SetName(record.GetName())
		copied.SetLabels(record.GetLabels())
		if _, err := secrets.Namespace(to).Create(context.Background(), copied, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func wantMode(t *testing.T, c *Case, namespace, want string) {
	t.Helper()
	object, err := c.cluster.get(context.Background(), ref{"configmap", namespace, "flags"})
	must(t, err)
	if got, _, _ := unstructured.NestedString(object.Object, "data", "mode"); got != want {
		t.Errorf("in %s, mode is %s, not %s", namespace, got, want)
	}
}
