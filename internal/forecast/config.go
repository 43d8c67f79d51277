package forecast

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// config returns the effect of the write of a ConfigMap or a Secret on the pods that use it.
func (in *prediction) config(o *Object) *report.Effect {
	keys := changedData(o)
	if o.Before != nil && o.After != nil && len(keys) == 0 {
		return nil
	}
	users, why := in.users(o.Namespace)
	e := &report.Effect{Inexact: why}
	if o.After == nil {
		in.configDeleted(e, o, users)
	} else if o.Before == nil {
		in.configCreated(e, o)
	} else {
		configChanged(e, usersOf(users, o.Kind, o.Name, keys), users)
	}
	if o.Kind == "Secret" {
		e.Notes = append(e.Notes, in.certificateNotes(o)...)
		e.Notes = append(e.Notes, in.accountNotes(o)...)
	}
	if e.Text == "" && (len(e.Notes) > 0 || why != "" && o.Before != nil) {
		e.Text = "no workload of the release uses it"
	}
	return e
}

// changedData returns the keys of the data that a write changes.
func changedData(o *Object) []string {
	var out []string
	for _, field := range []string{"data", "binaryData"} {
		before, after := object.Child(o.Before, field), object.Child(o.After, field)
		changed := object.Filter(object.SortedKeys(before), func(key string) bool {
			value, found := after[key]
			return !found || !object.Equal(before[key], value)
		})
		added := object.Filter(object.SortedKeys(after), func(key string) bool { return !object.Has(before, key) })
		out = slices.Concat(out, changed, added)
	}
	return out
}

// configChanged adds when each user of a ConfigMap or a Secret gets its new value.
func configChanged(e *report.Effect, uses map[object.Key][]use, users []user) {
	var restart, next, live, stale, pull []string
	for _, u := range users {
		list := uses[u.key]
		reads := func(a access) bool { return slices.ContainsFunc(list, func(u use) bool { return u.access == a }) }
		switch {
		case len(list) == 0 || u.deleted || u.idle:
		case u.restarts:
			restart = append(restart, named(u.key))
		case u.key.Kind == "CronJob":
			next = append(next, named(u.key))
		case reads(fixed):
			stale = append(stale, named(u.key))
		case reads(mounted):
			live = append(live, named(u.key))
		default:
			pull = append(pull, named(u.key))
		}
	}
	groups := []userGroup{
		{restart, "restarts with the new value", "restart with the new value"},
		{next, "gets the new value in its next run", "get the new value in their next run"},
		{live, "sees the new value within about a minute", "see the new value within about a minute"},
		{pull, "uses the new value when it pulls the next image", "use the new value when they pull the next image"},
		{stale, "keeps the old value until it restarts", "keep the old value until they restart"},
	}
	e.Text = groupsText(groups)
	all := slices.Concat(restart, next, live, pull, stale)
	if len(stale) == len(all) && len(all) == 1 {
		e.Text = "1 workload uses it and does not restart: it keeps the old value until then"
	} else if len(stale) == len(all) && len(all) > 1 {
		e.Text = fmt.Sprintf("%d workloads use it, none restarts: they keep the old value until then", len(all))
	}
	if len(stale) > 0 {
		e.Notes = append(e.Notes, firstNames(stale)+" "+verb(len(stale), "keeps", "keep")+" the old value")
	}
}

// userGroup is a group of users with what happens to them, in words for one user and for several.
type userGroup struct {
	names     []string
	one, many string
}

// groupsText returns what happens to the users of each group, or "" if there are none.
func groupsText(groups []userGroup) string {
	var clauses []string
	n := 0
	for _, g := range groups {
		if len(g.names) > 0 {
			clauses = append(clauses, fmt.Sprintf("%d %s", len(g.names), verb(len(g.names), g.one, g.many)))
			n += len(g.names)
		}
	}
	if len(clauses) == 0 {
		return ""
	}
	if len(clauses) == 1 {
		_, clause, _ := strings.Cut(clauses[0], " ")
		clauses[0] = verb(n, "it ", "they ") + clause
	}
	return english.Count(n, "workload") + " " + verb(n, "uses", "use") + " it: " + strings.Join(clauses, ", ")
}

// configDeleted adds who still uses a deleted ConfigMap or Secret. A running container keeps what it has; a container that starts fails.
func (in Input) configDeleted(e *report.Effect, o *Object, users []user) {
	var needing []string
	uses := usersOf(users, o.Kind, o.Name, nil)
	for _, u := range users {
		if !u.deleted && slices.ContainsFunc(uses[u.key], func(u use) bool { return !u.optional }) {
			needing = append(needing, named(u.key))
		}
	}
	if len(needing) > 0 {
		e.Text = fmt.Sprintf("%s still %s it: what runs keeps the value, but no new pod starts", english.Count(len(needing), "workload"),
			verb(len(needing), "uses", "use"))
		e.Lost = []string{named(o.Key) + ", which " + firstNames(needing) + " still " + verb(len(needing), "uses", "use")}
	}
	if account := object.Child(object.Child(o.Before, "metadata"), "annotations")["kubernetes.io/service-account.name"]; account != nil &&
		o.Before["type"] == "kubernetes.io/service-account-token" {
		e.Notes = append(e.Notes, fmt.Sprintf("the token of ServiceAccount %v is revoked", account))
	}
}

// configCreated counts the pods that wait for a ConfigMap or a Secret, and will start once it exists.
func (in Input) configCreated(e *report.Effect, o *Object) {
	pods, _ := in.pods(o.Namespace)
	waiting := 0
	for _, p := range pods {
		uses := usersOf([]user{{uses: usesOf(podSpec(p.object))}}, o.Kind, o.Name, nil)
		if len(uses) > 0 && object.Child(p.object, "status")["phase"] == "Pending" {
			waiting++
		}
	}
	if waiting > 0 {
		e.Text = english.Count(waiting, "pod") + " that " + verb(waiting, "waits", "wait") + " for it can start"
	}
}

// certificateNotes says which Ingresses of the release serve a Secret as their certificate.
func (in Input) certificateNotes(o *Object) []string {
	var names []string
	for i := range in.Objects {
		other := &in.Objects[i]
		if other.GroupKind() != (schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}) || other.Namespace != o.Namespace ||
			other.After == nil {
			continue
		}
		for _, tls := range object.Items(object.Child(other.After, "spec"), "tls") {
			if tls["secretName"] == o.Name && !slices.Contains(names, named(other.Key)) {
				names = append(names, named(other.Key))
			}
		}
	}
	if len(names) == 0 || o.Before == nil {
		return nil
	}
	if o.After == nil {
		return []string{firstNames(names) + " " + verb(len(names), "loses its", "lose their") + " certificate"}
	}
	return []string{firstNames(names) + " " + verb(len(names), "takes its", "take their") + " certificate from it"}
}

// accountNotes says which ServiceAccounts of the release make their new pods pull images with a Secret.
func (in Input) accountNotes(o *Object) []string {
	var out []string
	for i := range in.Objects {
		account := &in.Objects[i]
		if account.GroupKind() != (schema.GroupKind{Kind: "ServiceAccount"}) || account.Namespace != o.Namespace || o.Before == nil {
			continue
		}
		for _, ref := range object.Items(account.After, "imagePullSecrets") {
			if ref["name"] == o.Name && o.After == nil {
				out = append(out, "new pods of "+named(account.Key)+" pull images without it")
			} else if ref["name"] == o.Name {
				out = append(out, "new pods of "+named(account.Key)+" pull images with it")
			}
		}
	}
	return out
}

// checksumNotes says which annotation of a pod template restarts the pods: it is a checksum of something that changes too.
func (in Input) checksumNotes(o *Object) []string {
	before, after := templateIn(o.Key, o.Before), templateIn(o.Key, o.After)
	old, desired := texts(object.Child(before, "metadata")["annotations"]), texts(object.Child(after, "metadata")["annotations"])
	var changed []string
	for _, use := range usesOf(podSpec(after)) {
		key := object.Key{Kind: use.kind, Namespace: o.Namespace, Name: use.name}
		other := in.find(key)
		if name := named(key); other != nil && other.Action.Writes() && len(changedData(other)) > 0 && !slices.Contains(changed, name) {
			changed = append(changed, name)
		}
	}
	var out []string
	for _, name := range object.SortedKeys(desired) {
		if value, found := old[name]; found && value != desired[name] && strings.Contains(strings.ToLower(name), "checksum") && len(changed) > 0 {
			out = append(out, "annotation "+name+" changes with "+firstNames(changed)+", which is why the pods restart")
		}
	}
	return out
}
