package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// writesCase is a release record that may be forged or copied, the objects that its manifest names, as they are in the cluster, and a fix.
type writesCase struct {
	seed uint64
	// release is the name of the release, own the namespace that the record names, and storage the one that it is stored in.
	release, own, storage string
	namespaces            []string
	// statuses are the statuses of the revisions, the first one first. All revisions have the same manifest.
	statuses   []string
	serverSide bool
	// flux is the namespace in the labels of Flux that the manifest has; empty without labels.
	flux    string
	objects []*writesObject
	// others are the records of a release called other, by namespace.
	others map[string]string

	// These are the flags of the fix.
	only, skip, allow []string
	target            string
	revision          int
	dryRun            string
	prune             bool
}

// writesObject is an object of the manifest.
type writesObject struct {
	kind, name string
	// namespace is empty for a cluster-scoped object.
	namespace string
	// exists says that live has it, drifted that its fields differ from the manifest, extended that a person added something, and interrupted
	// that a fix which was interrupted put the fields back and still owns them.
	exists, drifted, extended, interrupted bool
	// ownerName and ownerNamespace are in its annotations; empty where live lacks the annotation.
	ownerName, ownerNamespace string
}

// newWritesCase makes the case of a seed.
func newWritesCase(seed uint64) *writesCase {
	r := rand.New(rand.NewPCG(seed, 28))
	prefix := fmt.Sprintf("w%d-", seed)
	c := &writesCase{seed: seed, release: "app", own: prefix + "own", namespaces: []string{prefix + "own", prefix + "b", prefix + "c"}}
	c.storage = c.own
	if r.IntN(4) == 0 {
		c.storage = prefix + "b"
	}
	if r.IntN(4) == 0 {
		c.release = "other"
	}
	c.statuses = oneOf(r, [][]string{
		{"deployed"}, {"deployed"}, {"deployed"}, {"failed"}, {"failed"}, {"failed", "failed"}, {"superseded", "deployed"},
		{"deployed", "failed"}, {"superseded", "failed"}, {"deployed", "pending-upgrade"}, {"pending-install"}, {"uninstalled"},
	})
	c.serverSide = r.IntN(2) == 0
	if r.IntN(3) == 0 {
		c.flux = oneOf(r, c.namespaces)
	}
	c.others = map[string]string{}
	for _, namespace := range c.namespaces {
		// A record with the name and in the namespace of the case's release would belong to it.
		if r.IntN(2) == 0 && (c.release != "other" || namespace != c.storage) {
			c.others[namespace] = oneOf(r, []string{"deployed", "failed", "pending-upgrade", "uninstalled"})
		}
	}
	for i := range 3 + r.IntN(6) {
		c.objects = append(c.objects, c.newObject(r, fmt.Sprintf("%s%d", prefix, i)))
	}
	c.chooseFlags(r)
	return c
}

func oneOf[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// newObject makes an object in any place and of any owner.
func (c *writesCase) newObject(r *rand.Rand, name string) *writesObject {
	o := &writesObject{kind: oneOf(r, []string{"ConfigMap", "RoleBinding", "Role", "ClusterRole"}), name: name}
	if o.kind != "ClusterRole" {
		o.namespace = oneOf(r, append([]string{c.own}, c.namespaces...))
	}
	o.exists, o.drifted, o.extended = r.IntN(3) > 0, r.IntN(3) > 0, r.IntN(3) == 0
	o.interrupted = c.serverSide && !o.drifted && r.IntN(2) == 0
	owner := oneOf(r, [][2]string{
		{c.release, c.own}, {c.release, c.own}, {c.release, c.own}, {c.release, oneOf(r, c.namespaces)},
		{"other", c.own}, {"other", c.own}, {"other", oneOf(r, c.namespaces)},
		{"ghost", c.own}, {"", ""}, {c.release, ""}, {"", c.own}, {"Not a name", c.own},
	})
	o.ownerName, o.ownerNamespace = owner[0], owner[1]
	return o
}

// chooseFlags chooses the flags of the fix.
func (c *writesCase) chooseFlags(r *rand.Rand) {
	name := func() string {
		o := oneOf(r, c.objects)
		return o.kind + "/" + o.name
	}
	for r.IntN(3) == 0 {
		c.only = append(c.only, name())
	}
	if r.IntN(6) == 0 {
		c.skip = append(c.skip, name())
	}
	for r.IntN(2) == 0 {
		c.allow = append(c.allow, oneOf(r, append([]string{"cluster", "cluster", "nowhere"}, c.namespaces...)))
	}
	if c.storage != c.own && r.IntN(2) == 0 || r.IntN(12) == 0 {
		c.target = oneOf(r, []string{c.own, c.own, c.own, c.storage})
	}
	if r.IntN(4) == 0 {
		c.revision = len(c.statuses)
	}
	if r.IntN(10) == 0 {
		c.dryRun = oneOf(r, []string{"client", "server"})
	}
	c.prune = r.IntN(4) == 0
}

// args returns the arguments of the fix.
func (c *writesCase) args() []string {
	args := []string{"fix", c.release, "-n", c.storage, "-o", "json", "--timeout", "20s"}
	each := func(flag string, values []string) {
		for _, value := range values {
			args = append(args, flag, value)
		}
	}
	each("--only", c.only)
	each("--skip", c.skip)
	each("--allow-namespace", c.allow)
	if c.target != "" {
		args = append(args, "--target-namespace", c.target)
	}
	if c.revision > 0 {
		args = append(args, "--revision", fmt.Sprint(c.revision))
	}
	if c.serverSide {
		args = append(args, "--field-manager", "helm")
	}
	if c.prune {
		args = append(args, "--prune")
	}
	if c.dryRun != "" {
		return append(args, "--dry-run="+c.dryRun)
	}
	return append(args, "--yes")
}

// String describes the case, for the message of a failure.
func (c *writesCase) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "seed %d: release %s of %s, stored in %s, %v, server-side %v, flux %q, others %v\n  %s\n",
		c.seed, c.release, c.own, c.storage, c.statuses, c.serverSide, c.flux, c.others, strings.Join(c.args(), " "))
	for _, o := range c.objects {
		fmt.Fprintf(&out, "  %+v\n", *o)
	}
	return out.String()
}

// text is the object as the manifest has it.
func (c *writesCase) text(o *writesObject) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: o.fields(true)}
	out.SetKind(o.kind)
	out.SetAPIVersion("rbac.authorization.k8s.io/v1")
	if o.kind == "ConfigMap" {
		out.SetAPIVersion("v1")
	}
	out.SetName(o.name)
	if o.namespace != c.own { // in the release's namespace it is left out, as charts do
		out.SetNamespace(o.namespace)
	}
	if c.flux != "" {
		out.SetLabels(map[string]string{"helm.toolkit.fluxcd.io/name": "hr", "helm.toolkit.fluxcd.io/namespace": c.flux})
	}
	return out
}

func rule(verb string) []any {
	return []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{verb}}}
}

// bound returns the fields of a RoleBinding that gives a role to a user.
func bound(user string) map[string]any {
	const group = "rbac.authorization.k8s.io"
	return map[string]any{
		"roleRef":  map[string]any{"apiGroup": group, "kind": "Role", "name": "of-nobody"},
		"subjects": []any{map[string]any{"apiGroup": group, "kind": "User", "name": user}},
	}
}

// build makes the namespaces, records and objects.
func (c *writesCase) build(ctx context.Context, on *cluster) error {
	for _, name := range c.namespaces {
		if err := on.create(ctx, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}", "", "test"); err != nil {
			return err
		}
	}
	var manifest []string
	for _, o := range c.objects {
		text, err := json.Marshal(c.text(o))
		if err != nil {
			return err
		}
		manifest = append(manifest, "---\n"+string(text)+"\n")
		if err := c.place(ctx, on, o); err != nil {
			return err
		}
	}
	method := ""
	if c.serverSide {
		method = "ssa"
	}
	for i, status := range c.statuses {
		if err := storeRecord(ctx, on, c.storage, c.release, c.own, i+1, status, strings.Join(manifest, ""), method); err != nil {
			return err
		}
	}
	for namespace, status := range c.others {
		if err := storeRecord(ctx, on, namespace, "other", namespace, 1, status, "", ""); err != nil {
			return err
		}
	}
	return nil
}

// place makes the live object, as its owner deployed it and as somebody edited it then.
func (c *writesCase) place(ctx context.Context, on *cluster, o *writesObject) error {
	if !o.exists {
		return nil
	}
	live := c.text(o)
	client, _, err := on.OfKind(live.GroupVersionKind(), o.namespace)
	if err != nil {
		return err
	}
	annotations := map[string]string{}
	for name, value := range map[string]string{"meta.helm.sh/release-name": o.ownerName, "meta.helm.sh/release-namespace": o.ownerNamespace} {
		if value != "" {
			annotations[name] = value
		}
	}
	live.SetNamespace(o.namespace)
	live.SetAnnotations(annotations)
	labels := live.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels["app.kubernetes.io/managed-by"] = "Helm"
	live.SetLabels(labels)
	if _, err := client.Apply(ctx, o.name, live, metav1.ApplyOptions{FieldManager: "helm"}); err != nil {
		return err
	}
	write := func(manager string, change map[string]any) error {
		body, err := json.Marshal(change)
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, o.name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager})
		return err
	}
	var errs []error
	if o.drifted || o.interrupted {
		errs = append(errs, write("kubectl-edit", o.fields(false)))
	}
	if o.interrupted {
		errs = append(errs, write("helmdrift", o.fields(true)))
	}
	if o.extended {
		errs = append(errs, write("kubectl-edit", map[string]any{"metadata": map[string]any{"labels": map[string]any{"added": "yes"}}}))
	}
	return errors.Join(errs...)
}

// fields returns the fields of an object, as the manifest has them or as somebody edited them.
func (o *writesObject) fields(asDeployed bool) map[string]any {
	switch {
	case o.kind == "ConfigMap" && asDeployed:
		return map[string]any{"data": map[string]any{"k": "1"}}
	case o.kind == "ConfigMap":
		return map[string]any{"data": map[string]any{"k": "edited"}}
	case o.kind == "RoleBinding" && asDeployed:
		return bound("alice")
	case o.kind == "RoleBinding":
		return bound("mallory")
	case asDeployed:
		return map[string]any{"rules": rule("get")}
	}
	return map[string]any{"rules": rule("list")}
}

// storeRecord writes a release record as Helm does; whoever may write Secrets can.
func storeRecord(ctx context.Context, on *cluster, storage, name, namespace string, revision int, status, manifest, method string) error {
	record := map[string]any{
		"name": name, "namespace": namespace, "version": revision, "manifest": manifest,
		"info":  map[string]any{"status": status, "first_deployed": "2026-11-20T10:00:00Z", "last_deployed": "2026-11-20T10:00:00Z"},
		"chart": map[string]any{"metadata": map[string]any{"name": "app", "version": "1.0.0", "apiVersion": "v2"}},
	}
	if method != "" {
		record["apply_method"] = method
	}
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(text)
	_ = w.Close()
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"stringData": map[string]any{"release": base64.StdEncoding.EncodeToString(zipped.Bytes())},
	}}
	secret.SetName(fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision))
	secret.SetLabels(map[string]string{"owner": "helm", "name": name, "status": status, "version": fmt.Sprint(revision)})
	secrets := on.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(storage)
	_, err = secrets.Create(ctx, secret, metav1.CreateOptions{})
	return err
}

// isNamed reports whether selectors name an object.
func (o *writesObject) isNamed(selectors []string) bool {
	return slices.Contains(selectors, o.kind+"/"+o.name)
}
