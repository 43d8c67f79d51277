package forecast

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// definition returns the effect of the deletion of a definition of custom resources: its instances are deleted with it.
func (in Input) definition(o *Object) *report.Effect {
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
	pods, why := in.pods(o.Name)
	e := &report.Effect{Text: "deletes everything in the namespace", Lost: []string{"everything in namespace " + o.Name}, Inexact: why}
	if why == "" {
		e.Text += ", with " + english.Count(len(pods), "pod")
	}
	return e
}

// serviceAccount returns the effect of the deletion of a ServiceAccount on the pods that use it.
func (in *prediction) serviceAccount(o *Object) *report.Effect {
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

// volumeKind is the kind of the volumes that claims are bound to.
func volumeKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}
}

// storageClass is the Want of a StorageClass.
func storageClass(name string) Want {
	return Want{Kind: schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}, Name: name}
}

// claim returns the effect of the write of a PersistentVolumeClaim.
func (in *prediction) claim(o *Object) *report.Effect {
	if o.After == nil {
		e := &report.Effect{Text: "is deleted"}
		in.loseClaims(e, o.Namespace, []string{o.Name})
		if in.isMounted(o) {
			e.Notes = append(e.Notes, "stays until no pod uses it")
		}
		return e
	}
	live := decoded[corev1.PersistentVolumeClaim](o.Live)
	was, is := requested(o.Before), requested(o.After)
	switch {
	case is.Storage().Cmp(*was.Storage()) < 0:
		return &report.Effect{Text: fmt.Sprintf("asks for %s instead of %s: a volume does not shrink", is.Storage(), was.Storage())}
	case is.Storage().Cmp(*was.Storage()) == 0:
		return nil
	case live.Status.Phase != corev1.ClaimBound:
		return &report.Effect{Text: "cannot grow, because it is not bound"}
	}
	return in.growth(fmt.Sprintf("from %s to %s", was.Storage(), is.Storage()), className(o.Before))
}

// requested returns what a claim asks for.
func requested(m map[string]any) corev1.ResourceList {
	return decoded[corev1.PersistentVolumeClaim](m).Spec.Resources.Requests
}

// className returns the storage class of a claim, or "" if it has none.
func className(m map[string]any) string {
	if name, ok := object.Child(object.Child(m, "metadata"), "annotations")[corev1.BetaStorageClassAnnotation].(string); ok {
		return name
	}
	name, _ := object.Child(m, "spec")["storageClassName"].(string)
	return name
}

// growth returns the effect of a claim that requests more storage.
func (in Input) growth(span, class string) *report.Effect {
	list := in.Seen[storageClass(class)]
	switch {
	case class == "":
		return &report.Effect{Text: "cannot grow, because it has no storage class"}
	case list.Err != nil:
		return &report.Effect{Text: "grows " + span + " in place, if storage class " + class + " allows it",
			Inexact: unread(list, "storage classes")}
	case len(list.Items) > 0 && isTrue(decoded[storagev1.StorageClass](list.Items[0]).AllowVolumeExpansion):
		return &report.Effect{Text: "grows " + span + " in place"}
	}
	return &report.Effect{Text: "cannot grow, because storage class " + class + " does not allow it"}
}

// isMounted reports whether a pod uses a claim, as far as that is known.
func (in *prediction) isMounted(o *Object) bool {
	users, _ := in.users(o.Namespace)
	return slices.ContainsFunc(users, func(u user) bool {
		return slices.ContainsFunc(u.spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == o.Name
		})
	})
}

// loseClaims adds to an effect that claims of a namespace are deleted, and what happens to their volumes.
func (in Input) loseClaims(e *report.Effect, namespace string, names []string) {
	volumes := map[string][]corev1.PersistentVolume{} // by the names of their claims
	for want, list := range in.Seen {
		if want.Kind != volumeKind() {
			continue
		}
		if list.Err != nil {
			e.Inexact = unread(list, "volumes")
		}
		for _, item := range list.Items {
			if v := decoded[corev1.PersistentVolume](item); v.Spec.ClaimRef != nil && v.Spec.ClaimRef.Namespace == namespace {
				volumes[v.Spec.ClaimRef.Name] = append(volumes[v.Spec.ClaimRef.Name], v)
			}
		}
	}
	for _, name := range names {
		text, isRetained := "PersistentVolumeClaim "+name, false
		for _, v := range volumes[name] {
			if isRetained = v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain; isRetained {
				e.Notes = append(e.Notes, text+" is deleted, but its volume "+v.Name+" is retained")
				break
			}
			text += " with its volume " + v.Name
		}
		if !isRetained {
			e.Lost = append(e.Lost, text)
		}
	}
}

// claimsOf adds what happens to the claims of a deleted StatefulSet, or of removed replicas.
func (in Input) claimsOf(e *report.Effect, o *Object) {
	lost := lostClaims(o)
	if lost.retained && lost.count > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s %s: %s",
			english.Count(lost.count, "claim"), verb(lost.count, "stays", "stay"), firstOf(lost.names, lost.count)))
		return
	}
	if lost.count > 0 {
		in.loseClaims(e, o.Namespace, lost.names)
	}
	if more := lost.count - len(lost.names); more > 0 {
		e.Lost = append(e.Lost, english.Count(more, "more claim"))
	}
}

// maxClaims is the number of lost claims of a StatefulSet that have names. Whoever may scale one can ask for two billion replicas.
const maxClaims = 1000

// claims are those of the replicas that a write removes from a StatefulSet.
type claims struct {
	// names are the first of count claims: at least maxClaims, if there are so many.
	names []string
	count int
	// retained reports whether the controller retains the claims.
	retained bool
}

// lostClaims returns the claims of the replicas that a write removes from a StatefulSet.
func lostClaims(o *Object) (out claims) {
	if o.GroupKind() != (schema.GroupKind{Group: "apps", Kind: "StatefulSet"}) || !o.Action.Writes() || o.Before == nil {
		return claims{}
	}
	before, after := decoded[appsv1.StatefulSet](o.Before), decoded[appsv1.StatefulSet](o.After)
	policy := before.Spec.PersistentVolumeClaimRetentionPolicy
	out.retained = policy == nil || policy.WhenDeleted != appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	first, end := 0, 0 // of the ordinals that stay
	if o.After != nil {
		policy = after.Spec.PersistentVolumeClaimRetentionPolicy
		out.retained = policy == nil || policy.WhenScaled != appsv1.DeletePersistentVolumeClaimRetentionPolicyType
		first = firstOrdinal(o.After)
		end = first + replicas(o.After)
	}
	lose := func(from, to int) {
		templates := before.Spec.VolumeClaimTemplates
		out.count += max(to-from, 0) * len(templates)
		for ordinal := from; ordinal < to && len(out.names) < min(out.count, maxClaims); ordinal++ {
			for _, claim := range templates {
				out.names = append(out.names, fmt.Sprintf("%s-%s-%d", claim.Name, o.Name, ordinal))
			}
		}
	}
	// No loop runs over the ordinals that stay, since an API server may answer with any number of replicas.
	start := firstOrdinal(o.Before)
	stop := start + replicas(o.Before)
	lose(start, min(first, stop))
	lose(max(end, start), stop)
	return out
}

// volume returns the effect of the deletion of a PersistentVolume.
func volume(o *Object) *report.Effect {
	v := decoded[corev1.PersistentVolume](o.Live)
	if v.Status.Phase != corev1.VolumeBound || v.Spec.ClaimRef == nil {
		return nil
	}
	return &report.Effect{Text: "stays until its claim " + v.Spec.ClaimRef.Namespace + "/" + v.Spec.ClaimRef.Name + " is deleted"}
}
