package threeway

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestAllocations checks every line of the table: the field is silent on an object without managedFields, and would be a
// finding without the table.
func TestAllocations(t *testing.T) {
	for _, line := range verdict.Allocations() {
		t.Run(line.Kind+" "+line.Path, func(t *testing.T) {
			if line.Reason == "" {
				t.Error("the line has no reason")
			}
			old, live := allocatedCase(line)
			c := Compare(sample{Object: old}.input(old, live))
			if !c.Quiet() {
				t.Errorf("not silent: %s", describe(c))
			}
			if line.OverridesManifest != nil {
				return
			}
			if got := withoutTable(c, old, live); len(got) == 0 {
				t.Error("silent without the table too: the line is of no use")
			}
		})
	}
}

// TestAllocationsThatAPersonEdits checks the fields that a person owns. They are unmanaged findings on the lines where a person's
// ownership counts, and silent on all others, above all where kubectl itself writes the field.
func TestAllocationsThatAPersonEdits(t *testing.T) {
	for _, line := range verdict.Allocations() {
		t.Run(line.Kind+" "+line.Path, func(t *testing.T) {
			old, live := allocatedCase(line)
			metadata := object.Child(live, "metadata")
			metadata["managedFields"] = []any{ownedBy("kubectl-edit", live, line)}
			got := Compare(sample{Object: old}.input(old, live)).Objects[0].Findings
			switch {
			case line.Edited && (len(got) != 1 || got[0].Managed || got[0].Verdict != report.Ignore || got[0].Cause != report.CauseDrift):
				t.Errorf("findings %+v, want one that is unmanaged", got)
			case !line.Edited && len(got) > 0:
				t.Errorf("not silent: %+v", got)
			}
		})
	}
}

// ownedBy returns an entry of managedFields for the field of a line.
func ownedBy(manager string, live map[string]any, line verdict.Allocation) map[string]any {
	path, key, keyed := strings.Cut(line.Path, "/")
	names := strings.Split(strings.ReplaceAll(path, "[]", `[port=80,protocol=TCP]`), ".")
	fields := map[string]any{}
	node := fields
	down := func(name string) {
		next := map[string]any{}
		node[name], node = next, next
	}
	for _, name := range names {
		name, item, isItem := strings.Cut(name, "[")
		down("f:" + name)
		if isItem && item != "" {
			down(keyOf(name))
		}
	}
	switch {
	case line.Kind == "ServiceAccount":
		down(`k:{"name":"` + strings.ReplaceAll(strings.Replace(key, "*", "abc", 1), "{name}", "x") + `"}`)
	case keyed:
		down("f:" + strings.ReplaceAll(strings.Replace(key, "*", "abc", 1), "{name}", "x"))
	}
	return map[string]any{
		"manager": manager, "operation": "Update", "apiVersion": live["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": fields,
	}
}

// keyOf returns the key of the item that seedCase puts into a list, as managedFields have it.
func keyOf(list string) string {
	if list == "webhooks" {
		return `k:{"name":"a"}`
	}
	return `k:{"port":80,"protocol":"TCP"}`
}

// withoutTable and sidesOf repeat the walk of a comparison, as if the table had no line.
func withoutTable(c *Comparison, old object.Object, live map[string]any) []verdict.Finding {
	w := verdict.Walker{Release: "r", Deployer: func() owners.Deployer { return owners.Deployer{} }}
	return w.Compare(verdict.Object{
		Shape: newComparer(Input{}).writer.ShapeOf(old.Ref), Engine: c.Objects[0].Engine, Text: live, States: sidesOf(c),
		Allocated: &verdict.AllocatedFields{},
	})
}

func sidesOf(c *Comparison) verdict.States {
	o := c.Objects[0]
	f := kinds.NewNormalizer(o.Key, kinds.Native().Shape(o.GVK()), o.liveText)
	old := f.Manifest(o.desiredText)
	return verdict.States{Old: old, Desired: old, Live: f.Stored(o.liveText), Result: f.Stored(o.liveText)}
}

// allocatedCase returns an object as written, and as a controller leaves it according to a line.
func allocatedCase(line verdict.Allocation) (object.Object, map[string]any) {
	kind, group, _ := strings.Cut(strings.ReplaceAll(line.Kind, "*", "Deployment.apps"), ".")
	ref := object.Ref{Key: object.Key{Group: group, Kind: kind, Name: "x", Namespace: "d"}, Version: "v1"}
	if kind == "HorizontalPodAutoscaler" {
		ref.Version = "v1"
	}
	content := map[string]any{"apiVersion": ref.APIVersion(), "kind": kind, "metadata": map[string]any{"name": "x"}}
	seedCase(line, content)
	old := object.Object{Ref: ref, Content: content}
	live, _ := object.Copy(object.HelmMetadata(content, "r", "d")).(map[string]any)
	plant(live, line)
	return old, live
}

// seedCase adds to the object what the line's condition asks for, and the lists on its path.
func seedCase(line verdict.Allocation, content map[string]any) {
	path, _, _ := strings.Cut(line.Path, "/")
	annotations := map[string]any{}
	switch {
	case strings.HasSuffix(path, "caBundle") && line.OverridesManifest != nil:
		annotations["cert-manager.io/inject-ca-from"] = "d/x"
	case line.Kind == "ClusterRole.rbac.authorization.k8s.io":
		content["aggregationRule"] = map[string]any{}
	case line.Kind == "Secret":
		content["type"] = "kubernetes.io/service-account-token"
	}
	object.Child(content, "metadata")["annotations"] = annotations
	node := content
	for name := range strings.SplitSeq(path, ".") {
		list, isList := strings.CutSuffix(name, "[]")
		if !isList {
			kinds.SetDefault(node, name, map[string]any{})
			if next := object.Child(node, name); next != nil {
				node = next
			}
			continue
		}
		item := map[string]any{"name": "a", "port": int64(80), "protocol": "TCP"}
		node[list] = []any{item}
		node = item
	}
	prune(content, strings.Split(path, "."))
}

// prune removes the last step of a path again, because the manifest does not name it.
func prune(content map[string]any, path []string) {
	node := content
	for _, name := range path[:len(path)-1] {
		list, isList := strings.CutSuffix(name, "[]")
		if isList {
			node, _ = node[list].([]any)[0].(map[string]any)
		} else {
			node = object.Child(node, name)
		}
	}
	if last := path[len(path)-1]; last != "annotations" {
		delete(node, last)
	}
}

// plant writes what the line names.
func plant(live map[string]any, line verdict.Allocation) {
	path, key, keyed := strings.Cut(line.Path, "/")
	key = strings.ReplaceAll(strings.Replace(key, "*", "abc", 1), "{name}", "x")
	names := strings.Split(path, ".")
	node := live
	for _, name := range names[:len(names)-1] {
		list, isList := strings.CutSuffix(name, "[]")
		if isList {
			node, _ = node[list].([]any)[0].(map[string]any)
			continue
		}
		kinds.SetDefault(node, name, map[string]any{})
		node = object.Child(node, name)
	}
	last := names[len(names)-1]
	switch {
	case last == "finalizers" && keyed:
		node[last] = []any{key}
	case keyed && last == "volumes":
		projected := map[string]any{"sources": []any{map[string]any{"serviceAccountToken": map[string]any{"path": "token"}}}}
		node[last] = []any{map[string]any{"name": key, "projected": projected}}
	case keyed && last == "secrets":
		node[last] = []any{map[string]any{"name": key}}
	case last == "volumeMounts":
		node[last] = []any{map[string]any{"name": "kube-api-access-abc", "mountPath": key}}
	case keyed:
		kinds.SetDefault(node, last, map[string]any{})
		object.Child(node, last)[key] = "eA=="
	default:
		node[last] = planted(last)
	}
}

func planted(name string) any {
	switch name {
	case "clusterIPs", "ipFamilies", "finalizers":
		return []any{"IPv4"}
	case "rules":
		return []any{map[string]any{"verbs": []any{"get"}}}
	case "selector":
		return map[string]any{"matchLabels": map[string]any{"a": "b"}}
	case "claimRef", "dataSource", "dataSourceRef":
		return map[string]any{"name": "x", "kind": "y"}
	case "imagePullSecrets":
		return []any{map[string]any{"name": "x"}}
	case "serviceAccountName":
		return "default"
	case "targetCPUUtilizationPercentage":
		return int64(80)
	case "nodePort", "healthCheckNodePort", "priority":
		return int64(30123)
	}
	return "eA=="
}
