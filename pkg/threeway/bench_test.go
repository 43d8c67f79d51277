package threeway

import (
	"fmt"
	"testing"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// BenchmarkCompare compares one object per operation: a typical Deployment, a typical custom resource, and a ConfigMap of 500
// keys, untouched and edited.
func BenchmarkCompare(b *testing.B) {
	large := map[string]any{}
	for i := range 500 {
		large[fmt.Sprintf("key-%03d", i)] = fmt.Sprint("value ", i)
	}
	for name, content := range map[string]map[string]any{
		"ConfigMap500": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": large},
		"Custom":       benchObject(b, "schema-of-custom-resource.txtar/old.yaml"),
		"Deployment":   benchObject(b, "pod-template-defaults.txtar/live.yaml"),
	} {
		o := objectOf(b, content)
		s := sample{Object: o}
		b.Run(name+"/untouched", func(b *testing.B) { benchCompare(b, s, s.stored()) })
		b.Run(name+"/edited", func(b *testing.B) {
			live := s.stored()
			for _, field := range []string{"data", "spec"} {
				if m := object.Child(live, field); m != nil {
					m["added"], m["replicas"] = "x", int64(7)
				}
			}
			benchCompare(b, s, live)
		})
	}
}

// BenchmarkReport compares and reports an untouched Deployment as a cluster has it: with managedFields, with what its controller wrote, and
// with the built-in ignore rules.
func BenchmarkReport(b *testing.B) {
	o := objectOf(b, benchObject(b, "pod-template-defaults.txtar/live.yaml"))
	live := sample{Object: o}.stored()
	object.Child(object.Child(live, "metadata"), "annotations")["deployment.kubernetes.io/revision"] = "3"
	in := sample{Object: o}.input(o, owning(live, entryOf("helm", o.APIVersion(), fieldsOf(live))))
	in.Rules = ignore.BuiltInRules()
	b.ReportAllocs()
	for b.Loop() {
		if c := Compare(in); !c.Quiet() || len(c.Report(Mask{}).Objects) > 0 {
			b.Fatal(describe(c))
		}
	}
}

// BenchmarkCompareApplied compares a Deployment that Helm 4 applies server-side, with the managedFields that the API
// server's own field manager writes, untouched and edited by a person.
func BenchmarkCompareApplied(b *testing.B) {
	o := objectOf(b, benchObject(b, "pod-template-defaults.txtar/live.yaml"))
	pod := object.Child(object.Child(o.Content, "spec"), "template")
	delete(object.Child(pod, "metadata"), "creationTimestamp") // no server stores these three as the case writes them
	delete(object.Child(pod, "spec"), "serviceAccount")
	delete(object.Items(object.Child(pod, "spec"), "containers")[1], "resources")
	server := newFieldServer(b, kinds.NativeApply().Types, o.Ref)
	live, ok := server.applied(sample{Object: o})
	if !ok {
		b.Fatal("the field manager refuses the object")
	}
	object.Child(live, "metadata")["namespace"] = o.Namespace
	edited, _ := object.Copy(live).(map[string]any)
	object.Child(edited, "spec")["replicas"] = int64(7)
	if edited, ok = server.write(live, edited, "kubectl-edit"); !ok {
		b.Fatal("the field manager refuses the edit")
	}
	for name, live := range map[string]map[string]any{"untouched": live, "edited": edited} {
		b.Run(name, func(b *testing.B) {
			in := sample{Object: o}.input(o, live)
			in.ApplyMethod = "server-side"
			b.ReportAllocs()
			for b.Loop() {
				Compare(in)
			}
		})
	}
}

// stored returns the object as a server has it, with the fields that no normal form has.
func (s sample) stored() map[string]any {
	live := s.installed()
	metadata := object.Child(live, "metadata")
	metadata["namespace"], metadata["uid"], metadata["resourceVersion"] = s.Namespace, "1f", "1"
	if pod := object.Child(object.Child(object.Child(live, "spec"), "template"), "spec"); pod["serviceAccountName"] != nil {
		pod["serviceAccount"] = pod["serviceAccountName"]
	}
	return live
}

func benchCompare(b *testing.B, s sample, live map[string]any) {
	in := s.input(s.Object, live)
	b.ReportAllocs()
	for b.Loop() {
		Compare(in)
	}
}

func benchObject(b *testing.B, source string) map[string]any {
	for _, o := range samples(b) {
		if o.Source == source {
			return o.Content
		}
	}
	b.Fatalf("no object in %s", source)
	return nil
}

// BenchmarkAttribution compares a release of thirty objects with managedFields as Helm, a controller and a person leave them, and without.
// The difference is the cost of knowing who wrote what. A person has edited none of the objects, one in ten, or all.
func BenchmarkAttribution(b *testing.B) {
	for _, edits := range []struct {
		name  string
		every int
	}{{"untouched", 0}, {"tenth-edited", 10}, {"all-edited", 1}} {
		for _, owned := range []bool{false, true} {
			in := attributed(b, edits.every, owned)
			b.Run(fmt.Sprintf("%s/owned=%v", edits.name, owned), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Compare(in)
				}
			})
		}
	}
}

// attributed returns a release of Deployments, Pods and ConfigMaps. A person has added a label to one of so many objects.
func attributed(b *testing.B, every int, owned bool) Input {
	label := func(name string) map[string]any {
		return map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{"f:" + name: map[string]any{}}}}
	}
	in := sample{}.input(object.Object{}, nil)
	in.OldObjects, in.DesiredObjects, in.Live = nil, nil, map[object.Ref]cluster.Live{}
	for _, source := range []string{"pod-template-defaults.txtar/live.yaml", "pod-defaults.txtar/live.yaml", "edits-config-map.txtar/old.yaml"} {
		content := benchObject(b, source)
		for i := range 10 {
			o := objectOf(b, object.Copy(content).(map[string]any))
			o.Name = fmt.Sprintf("%s-%d", o.Name, i)
			object.Child(o.Content, "metadata")["name"] = o.Name
			live := sample{Object: o}.installed()
			helms := fieldsOf(live)
			if every > 0 && i%every == 0 {
				labels, _ := object.Child(live, "metadata")["labels"].(map[string]any)
				labels["added"] = "x"
			}
			if owned {
				status := map[string]any{"f:status": helms["f:spec"], "f:metadata": helms["f:metadata"]}
				live = owning(live, entryOf("helm", o.APIVersion(), helms), entryOf("kube-controller-manager", o.APIVersion(), status), entryOf("kubectl-label", o.APIVersion(), label("added")))
			}
			in.OldObjects, in.DesiredObjects = append(in.OldObjects, o), append(in.DesiredObjects, o)
			in.Live[o.Ref] = cluster.Live{Object: live}
		}
	}
	return in
}
