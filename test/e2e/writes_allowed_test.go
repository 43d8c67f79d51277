package e2e

import "slices"

// This file says what a fix may write, in the words of docs/fix.md, "What belongs to a release". It shares no code with the program.

// writesVerdict is what a fix may do with an object, and the rule that says so.
type writesVerdict struct {
	rule string
	may  bool
}

// verdict returns what the fix may do with an object.
func (c *writesCase) verdict(o *writesObject) writesVerdict {
	if refusal := c.refusal(); refusal != "" {
		return writesVerdict{refusal, false}
	}
	named, outside := o.isNamed(c.only), o.namespace != c.own
	ours := o.ownerName == c.release && o.ownerNamespace == c.own
	switch {
	case len(c.only) > 0 && !named, o.isNamed(c.skip):
		return writesVerdict{"not selected", false}
	case o.exists && ours:
		return writesVerdict{"ours", true}
	case o.exists && outside:
		return writesVerdict{"outside, not ours", false}
	case o.exists && c.ownerExists(o):
		return writesVerdict{"of another release", named}
	case o.exists:
		return writesVerdict{"of no release", true}
	case c.neverDeployed() && !named && c.revision == 0:
		return writesVerdict{"never deployed", false}
	case outside:
		place := o.namespace
		if place == "" {
			place = "cluster"
		}
		return writesVerdict{"missing outside", slices.Contains(c.allow, place)}
	}
	return writesVerdict{"missing", true}
}

// refusal is the rule that refuses the whole fix; empty if none does.
func (c *writesCase) refusal() string {
	last := c.statuses[len(c.statuses)-1]
	switch {
	case c.dryRun != "":
		return "dry run"
	case last == "pending-upgrade" || last == "pending-install" || last == "uninstalled":
		return "last " + last
	case c.target != "" && c.target != c.own:
		return "another target namespace"
	case c.target == "" && c.storage != c.own && !c.storedByFlux():
		return "copied record"
	}
	return ""
}

// storedByFlux reports whether a live object of the release shows that Flux keeps the record apart.
func (c *writesCase) storedByFlux() bool {
	return c.flux == c.storage && slices.ContainsFunc(c.objects, func(o *writesObject) bool {
		return o.exists && o.namespace == c.own && o.ownerName == c.release && o.ownerNamespace == c.own
	})
}

// ownerExists reports whether the annotations of a live object name another release that is installed.
func (c *writesCase) ownerExists(o *writesObject) bool {
	if o.ownerName == "" || o.ownerNamespace == "" {
		return false
	}
	places := []string{o.ownerNamespace}
	if c.flux != "" {
		places = append(places, c.flux)
	}
	return slices.ContainsFunc(places, func(place string) bool {
		if o.ownerName == c.release && place == c.storage { // the records of this case
			return c.statuses[len(c.statuses)-1] != "uninstalled"
		}
		status, stored := c.others[place]
		return o.ownerName == "other" && stored && status != "uninstalled"
	})
}

// neverDeployed reports whether Helm would start from a failed revision.
func (c *writesCase) neverDeployed() bool {
	return !slices.Contains(c.statuses, "deployed") && c.statuses[len(c.statuses)-1] == "failed"
}

// differs reports whether there is something to write to an object.
func (c *writesCase) differs(o *writesObject) bool {
	ours := o.ownerName == c.release && o.ownerNamespace == c.own
	return !o.exists || o.drifted || o.interrupted || !ours || c.prune && o.extended
}
