package forecast

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// access is how a pod gets what a ConfigMap or a Secret holds, which decides when it gets a new value.
type access int

const (
	// mounted is a file of a volume, which the kubelet brings up to date while the pod runs.
	mounted access = iota
	// fixed is an environment variable, a file mounted by subPath, or anything else that is read when a container starts.
	fixed
	// pulling is a Secret for the registry, which is read when an image is pulled.
	pulling
)

// use is a reference of a pod to a ConfigMap or a Secret.
type use struct {
	kind, name string
	// keys are those of its data that the pod uses; nil if it uses all.
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
	if once {
		u.access = fixed
	}
	if mount.SubPathExpr != "" {
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

func isTrue(b *bool) bool { return b != nil && *b }
