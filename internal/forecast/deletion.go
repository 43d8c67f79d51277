package forecast

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// definition returns the effect of the deletion of a definition of custom resources: its instances are deleted with it.
func (in Input) definition(o *Object) *report.Effect {
	if o.After != nil || o.Before == nil {
		return nil
	}
	want := instances(o)
	list := in.Seen[want]
	what := want.Kind.Kind + " objects"
	if list.Err != nil {
		return &report.Effect{Text: "deletes all " + what + " of the cluster", Lost: []string{"all " + what + " of the cluster"},
			Inexact: unread(list, what)}
	}
	if len(list.Items) == 0 {
		return nil
	}
	namespaces := map[string]bool{}
	for _, item := range list.Items {
		if namespace, ok := object.Child(item, "metadata")["namespace"].(string); ok {
			namespaces[namespace] = true
		}
	}
	text := english.Count(len(list.Items), want.Kind.Kind+" object")
	if len(namespaces) > 0 {
		text += " in " + english.Count(len(namespaces), "namespace")
	}
	return &report.Effect{Text: "deletes " + text, Lost: []string{text}}
}

// instances is the list of the instances of a definition, in all namespaces.
func instances(o *Object) Want {
	spec := object.Child(o.Before, "spec")
	kind := schema.GroupVersionKind{}
	kind.Group, _ = spec["group"].(string)
	kind.Kind, _ = object.Child(spec, "names")["kind"].(string)
	for _, version := range object.Items(spec, "versions") {
		if name, ok := version["name"].(string); ok && version["served"] == true {
			kind.Version = name
		}
	}
	return Want{Kind: kind}
}

// namespace returns the effect of the deletion of a Namespace.
func (in Input) namespace(o *Object) *report.Effect {
	if o.After != nil || o.Before == nil {
		return nil
	}
	pods, why := in.pods(o.Name)
	e := &report.Effect{Text: "deletes everything in the namespace", Lost: []string{"everything in namespace " + o.Name}, Inexact: why}
	if why == "" {
		e.Text += ", with " + english.Count(len(pods), "pod")
	}
	return e
}

// serviceAccount returns the effect of the deletion of a ServiceAccount on the pods that use it.
func (in *prediction) serviceAccount(o *Object) *report.Effect {
	if o.After != nil || o.Before == nil {
		return nil
	}
	users, why := in.users(o.Namespace)
	e := &report.Effect{Inexact: why}
	var names []string
	for _, u := range users {
		if !u.deleted && u.spec.ServiceAccountName == o.Name {
			names = append(names, named(u.key))
		}
	}
	if len(names) == 0 && why != "" {
		e.Text = "no workload of the release uses it"
		return e
	}
	if len(names) == 0 {
		return nil
	}
	e.Text = fmt.Sprintf("%s still %s it: running pods lose access to the API, and no new pod is created",
		english.Count(len(names), "workload"),
		verb(len(names), "uses", "use"))
	e.Notes = []string{"used by " + firstNames(names)}
	return e
}

// priorityClass returns the effect of the deletion of a PriorityClass on the workloads of the release that name it.
func (in Input) priorityClass(o *Object) *report.Effect {
	if o.After != nil || o.Before == nil {
		return nil
	}
	var names []string
	for i := range in.Objects {
		w := &in.Objects[i]
		if t := templateIn(w.Key, w.After); t != nil && podSpec(t).PriorityClassName == o.Name {
			names = append(names, named(w.Key))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &report.Effect{Text: "no new pod of " + firstNames(names) + " is created without it"}
}
