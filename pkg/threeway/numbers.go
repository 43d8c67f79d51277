package threeway

import (
	"cmp"
	"fmt"
	"math"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// holding says that a Service has a number, a node port or an address, when Helm comes to the objects after one index, up to and including
// another.
type holding struct {
	service     object.Key
	after, upTo int
}

// holdings are the holdings of each number.
type holdings map[string][]holding

// numbers returns what the other Services of the release mean for the numbers that a Service wants and does not have. Taken is why the API
// server cannot give it one: another Service has it. Exchanged is which Service gives one up, or gets it, before Helm comes to this one. Both
// are empty for most. Had and wanted are normal forms, and had is nil for a new Service.
func (c *comparer) numbers(p pair, had, wanted map[string]any) (taken, exchanged string) {
	if p.key.GroupKind().String() != "Service" || c.in.By.Syncs() { // Argo CD deletes first
		return "", ""
	}
	fresh := freshNumbers(had, wanted)
	if len(fresh) == 0 {
		return "", ""
	}
	h := c.holdings()
	return h.taken(p, fresh), h.exchanged(p, fresh)
}

// freshNumbers returns the numbers that a Service wants and does not have, with their fields.
func freshNumbers(had, wanted map[string]any) map[string]string {
	fresh := apiserver.Numbers(wanted)
	for number := range apiserver.Numbers(had) {
		delete(fresh, number)
	}
	return fresh
}

// taken returns which of some numbers another Service has when Helm comes to a Service. It is empty if there is none.
func (h holdings) taken(p pair, fresh map[string]string) string {
	for _, number := range object.SortedKeys(fresh) {
		for _, other := range h[number] {
			if other.service != p.key && other.after < p.index && p.index <= other.upTo {
				return fmt.Sprintf("%s: %s is already allocated to %s", fresh[number], number, other.service)
			}
		}
	}
	return ""
}

// exchanged returns which Service gives up or gets one of some numbers before Helm comes to a Service, so that a dry run cannot judge that
// one. It is empty if none does.
func (h holdings) exchanged(p pair, fresh map[string]string) string {
	for _, number := range object.SortedKeys(fresh) {
		for _, other := range h[number] {
			verb := ""
			switch {
			case other.service == p.key:
			case other.upTo < p.index:
				verb = "gives up"
			case other.after > math.MinInt && other.after < p.index:
				verb = "gets"
			}
			if verb != "" {
				return fmt.Sprintf("%s %s %s first, which a dry run does not do", other.service, verb, number)
			}
		}
	}
	return ""
}

// findHoldings returns the numbers of the Services of the release. Helm deletes last, so a Service that the manifest drops has its numbers
// until then, unless it becomes a hook that runs first. The Service of such a hook has its numbers from then on, unless Helm deletes it
// after the hook. A Service that the manifest adds or changes gets its numbers when Helm comes to it, unless the API server refuses the
// write, be it because of a number.
func (c *comparer) findHoldings() holdings {
	out, forms := holdings{}, map[object.Key]*kinds.Normalizer{}
	for _, h := range c.in.Hooks {
		if h.First && !h.DeletedAfter && h.Key.GroupKind().String() == "Service" {
			for number := range apiserver.Numbers(h.Content) {
				out[number] = append(out[number], holding{service: h.Key, after: math.MinInt, upTo: math.MaxInt})
			}
		}
	}
	var services []pair
	for _, p := range c.pairs {
		hook, _ := c.hookOf(p.subject())
		if p.key.GroupKind().String() != "Service" || hook != nil && hook.First && c.isDeletedByHook(hook) {
			continue
		}
		services = append(services, p)
		if holder, ref := c.holder(p), p.subject().Ref; holder != nil {
			forms[p.key] = kinds.NewNormalizer(ref.Key, c.writer.ShapeOf(ref), holder)
			for number := range apiserver.Numbers(forms[p.key].Stored(holder).Object()) {
				out[number] = append(out[number], holding{service: p.key, after: math.MinInt, upTo: math.MaxInt})
			}
		}
	}
	order.Sort(services, func(a, b pair) int { return cmp.Compare(a.index, b.index) })
	for _, p := range services {
		if p.desired != nil {
			was, is := c.changeOf(p, forms[p.key])
			out.exchange(p, was, is)
		}
	}
	return out
}

// holder returns the object that says which numbers a Service has: the live one, or the recorded one if the live one cannot be read. It is nil
// if there is neither.
func (c *comparer) holder(p pair) map[string]any {
	live := c.in.Live[p.subject().Ref]
	if live.Err != nil && p.old != nil {
		return p.old.Content
	}
	return live.Object
}

// exchange notes that a Service changes, unless another one has a number that it wants.
func (h holdings) exchange(p pair, was, is map[string]any) {
	fresh := freshNumbers(was, is)
	if h.taken(p, fresh) != "" {
		return
	}
	for number := range freshNumbers(is, was) {
		for i := range h[number] {
			if h[number][i].service == p.key {
				h[number][i].upTo = p.index
			}
		}
	}
	for number := range fresh {
		h[number] = append(h[number], holding{service: p.key, after: p.index, upTo: math.MaxInt})
	}
}

// changeOf returns the normal forms of a Service before and after Helm has come to it; before is nil if Helm creates it. They are the same
// if the API server refuses the write. A Service that cannot be read becomes what Helm wants. N is nil for one that does not exist.
func (c *comparer) changeOf(p pair, n *kinds.Normalizer) (before, after map[string]any) {
	ref, text := p.subject().Ref, c.helmText(p.desired.Content)
	live := c.in.Live[ref].Object
	switch {
	case n == nil:
		return nil, c.storedForm(ref, text, nil)
	case live == nil:
		return storedForms(ref.Key, n, c.holder(p), text)
	}
	done, err := c.writer.Write(ref, cmp.Or(p.old, p.desired).Content, text, live)
	before, after = storedForms(ref.Key, n, live, done.Result)
	update := apiserver.Update{Ref: ref, Text: live, Live: before, Result: after}
	if err != nil || done.Refusal != "" || update.RefusedFields() != "" {
		return before, before
	}
	return before, after
}

// storedForms returns the normal forms of an object before and after a write, as the API server stores it.
func storedForms(key object.Key, n *kinds.Normalizer, before, after map[string]any) (was, is map[string]any) {
	stored, next := n.Stored(before), n.Stored(after)
	apiserver.ApplyServerRules(key, stored, next)
	return stored.Object(), next.Object()
}
