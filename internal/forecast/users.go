package forecast

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// prediction is a forecast in the making: its input, the effects so far, and what several of them need.
type prediction struct {
	Input
	effects map[object.Key]*report.Effect
	known   map[string]knownUsers
}

// user runs pods in a namespace: a workload, of the release or another one, or a single pod.
type user struct {
	key object.Key
	// spec is the spec of the pods once the operation is over or, if the object is deleted, before it.
	spec corev1.PodSpec
	uses []use
	// restarts reports whether its pods start in this operation. Deleted reports whether none is left, and idle whether it has none at all.
	restarts, deleted, idle bool
}

// knownUsers are the users in a namespace, and why there may be more.
type knownUsers struct {
	users []user
	why   string
}

// users returns the users in a namespace. The second result says why there may be more.
func (in *prediction) users(namespace string) ([]user, string) {
	found, known := in.known[namespace]
	if !known {
		found = in.findUsers(namespace)
		in.known[namespace] = found
	}
	return found.users, found.why
}

// findUsers returns the users in a namespace: first those of the release.
func (in *prediction) findUsers(namespace string) knownUsers {
	var out knownUsers
	for i := range in.Objects {
		if o := &in.Objects[i]; o.Namespace == namespace && o.runsPods() {
			out.users = append(out.users, userOf(o, in.effects[o.Key]))
		}
	}
	own, seen := len(out.users), map[object.Key]bool{}
	pods, why := in.pods(namespace)
	out.why = why
	for _, p := range pods {
		if o := in.find(p.owner); seen[p.owner] || o != nil && o.runsPods() {
			continue
		}
		seen[p.owner] = true
		spec := podSpec(p.object)
		out.users = append(out.users, user{key: p.owner, spec: spec, uses: usesOf(spec)})
	}
	order.Sort(out.users[own:], func(a, b user) int { return a.key.Compare(b.key) })
	return out
}

// userOf returns a workload of the release as a user.
func userOf(o *Object, effect *report.Effect) user {
	before, after := templateIn(o.Key, o.Before), templateIn(o.Key, o.After)
	u := user{key: o.Key, deleted: after == nil}
	u.restarts = before == nil || effect != nil && effect.Restarts > 0 && !(o.isPod() && o.keepsContainers())
	if u.restarts || o.Kind == "CronJob" && after != nil {
		u.spec = podSpec(after)
	} else {
		u.spec = podSpec(before)
	}
	u.uses = usesOf(u.spec)
	u.idle = scales(o.Key) && replicas(o.Before) == 0 && replicas(o.After) == 0
	return u
}

// usersOf returns how each user uses a ConfigMap or a Secret. Only the given keys of its data matter; nil stands for all.
func usersOf(users []user, kind, name string, keys []string) map[object.Key][]use {
	out := map[object.Key][]use{}
	for _, u := range users {
		for _, use := range u.uses {
			if use.kind == kind && use.name == name && use.matters(keys) {
				out[u.key] = append(out[u.key], use)
			}
		}
	}
	return out
}

// matters reports whether any of some keys is used; nil stands for all.
func (u use) matters(keys []string) bool {
	return u.keys == nil || keys == nil || slices.ContainsFunc(u.keys, func(key string) bool { return slices.Contains(keys, key) })
}

// access says how a pod gets the content of a ConfigMap or a Secret. That decides when it gets a new value.
type access int

const (
	// mounted is a file of a volume. The kubelet updates it while the pod runs.
	mounted access = iota
	// fixed is an environment variable, a file mounted by subPath, or anything else that is read when a container starts.
	fixed
	// pulling is a Secret for the registry, which is read when an image is pulled.
	pulling
)

// use is a reference of a pod to a ConfigMap or a Secret.
type use struct {
	kind, name string
	// keys are the keys of its data that the pod uses. It is nil if the pod uses all.
	keys     []string
	access   access
	optional bool
}

// usesOf returns the references of a pod to ConfigMaps and Secrets.
func usesOf(spec corev1.PodSpec) []use {
	var out []use
	for _, c := range spec.Containers {
		out = append(out, usesOfContainer(spec, c, false)...)
	}
	for _, c := range spec.InitContainers {
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		out = append(out, usesOfContainer(spec, c, !sidecar)...)
	}
	for _, ref := range spec.ImagePullSecrets {
		out = append(out, use{kind: "Secret", name: ref.Name, access: pulling, optional: true})
	}
	return out
}

// usesOfContainer returns the references of a container. Once says that it runs once, when the pod starts.
func usesOfContainer(spec corev1.PodSpec, c corev1.Container, once bool) []use {
	var out []use
	for _, env := range c.Env {
		if from := env.ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
			ref := from.ConfigMapKeyRef
			out = append(out, use{"ConfigMap", ref.Name, []string{ref.Key}, fixed, isTrue(ref.Optional)})
		} else if from != nil && from.SecretKeyRef != nil {
			ref := from.SecretKeyRef
			out = append(out, use{"Secret", ref.Name, []string{ref.Key}, fixed, isTrue(ref.Optional)})
		}
	}
	for _, from := range c.EnvFrom {
		if ref := from.ConfigMapRef; ref != nil {
			out = append(out, use{"ConfigMap", ref.Name, nil, fixed, isTrue(ref.Optional)})
		}
		if ref := from.SecretRef; ref != nil {
			out = append(out, use{"Secret", ref.Name, nil, fixed, isTrue(ref.Optional)})
		}
	}
	for _, mount := range c.VolumeMounts {
		i := slices.IndexFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if i < 0 {
			continue
		}
		for _, source := range sourcesOf(spec.Volumes[i].VolumeSource) {
			out = append(out, source.mountedBy(mount, once))
		}
	}
	return out
}

// source is a ConfigMap or a Secret whose data are files of a volume.
type source struct {
	use
	items []corev1.KeyToPath
}

// sourcesOf returns the ConfigMaps and Secrets of a volume.
func sourcesOf(v corev1.VolumeSource) []source {
	var out []source
	if c := v.ConfigMap; c != nil {
		out = append(out, source{use{kind: "ConfigMap", name: c.Name, optional: isTrue(c.Optional)}, c.Items})
	}
	if s := v.Secret; s != nil {
		out = append(out, source{use{kind: "Secret", name: s.SecretName, optional: isTrue(s.Optional)}, s.Items})
	}
	if v.Projected == nil {
		return out
	}
	for _, p := range v.Projected.Sources {
		if c := p.ConfigMap; c != nil {
			out = append(out, source{use{kind: "ConfigMap", name: c.Name, optional: isTrue(c.Optional)}, c.Items})
		}
		if s := p.Secret; s != nil {
			out = append(out, source{use{kind: "Secret", name: s.Name, optional: isTrue(s.Optional)}, s.Items})
		}
	}
	return out
}

// mountedBy returns the use that a mount makes of a source. A mount of a part of the volume keeps the file that it had at the start.
func (s source) mountedBy(mount corev1.VolumeMount, once bool) use {
	u := s.use
	for _, item := range s.items {
		u.keys = append(u.keys, item.Key)
	}
	if once || mount.SubPathExpr != "" {
		u.access = fixed
	}
	if mount.SubPath == "" {
		return u
	}
	u.access = fixed
	file, _, _ := strings.Cut(mount.SubPath, "/")
	if s.items == nil {
		u.keys = []string{file}
	}
	for _, item := range s.items {
		if item.Path == mount.SubPath {
			u.keys = []string{item.Key}
		}
	}
	return u
}
