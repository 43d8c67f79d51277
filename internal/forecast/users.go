package forecast

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// user is what runs pods in a namespace: a workload of the release or another one, or a pod by itself.
type user struct {
	key object.Key
	// spec is that of the pods that run once the operation is over. If the object is deleted, it is that of the pods until then.
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

// users returns what runs pods in a namespace. The second result says why there may be more.
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
	slices.SortFunc(out.users[own:], func(a, b user) int { return a.key.Compare(b.key) })
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

// scales reports whether objects of a kind have a number of replicas.
func scales(key object.Key) bool {
	switch key.Kind {
	case "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController":
		return true
	}
	return false
}

// named returns the kind and the name of an object as texts show them.
func named(key object.Key) string { return key.Kind + " " + key.Name }

// usersOf returns how each user uses a ConfigMap or a Secret, of whose data the given keys matter; nil stands for all.
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
