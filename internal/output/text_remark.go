package output

import (
	"fmt"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxOwners is how many owners of a finding are named.
const maxOwners = 3

// remarks say about a finding what signs and values do not: who wrote the live value, and what else matters.
func (t *text) remarks(f report.Finding) []string {
	var said []string
	add := func(condition bool, remark string) {
		if condition {
			said = append(said, remark)
		}
	}
	owners := t.owners(f)
	add(owners != "", owners)
	add(!f.Managed && f.Verdict == report.Ignore, "unmanaged: stays")
	add(!f.Managed && f.Verdict != report.Ignore, "unmanaged")
	add(f.Managed && f.Verdict == report.Ignore && len(f.Notes) == 0 && f.IgnoredBy == nil && f.Class == "", "stays")
	add(f.Class != "" && f.Class != report.ClassVolatile, t.text(string(f.Class)))
	add(f.Class == report.ClassVolatile, t.volatility(f))
	add(!f.Certain, "not certain")
	if f.IgnoredBy != nil {
		add(true, t.ignoredBy(f.IgnoredBy))
	}
	if f.After != nil && !f.Masked {
		add(true, "becomes "+t.value(f.After))
	}
	add(len(f.Notes) > 0, t.text(f.Notes.String()))
	return said
}

// volatility says why a value will not stay as it is shown, and where to mend that.
func (t *text) volatility(f report.Finding) string {
	said := "volatile: made anew by each rendering"
	if f.Template != "" {
		said += " (" + t.text(f.Template) + ")"
	}
	return said
}

// owners names who wrote the live value. Where live did not move that is Helm, almost always, and not worth the room;
// a conflict is about its owner whoever moved.
func (t *text) owners(f report.Finding) string {
	if f.Cause == report.CauseChange && f.Verdict != report.Conflict {
		return ""
	}
	switch {
	case f.Unrecorded:
		return "" // the note says why
	case len(f.Owners) == 0 && liveHas(f):
		return "owner unknown"
	case len(f.Owners) == 0 && f.Verdict != report.Conflict && !f.Masked:
		return "removed, by whom is not recorded"
	}
	var names []string
	for i, o := range f.Owners {
		if i == maxOwners {
			names = append(names, fmt.Sprintf("%d more", len(f.Owners)-i))
			break
		}
		names = append(names, t.owner(o))
	}
	return strings.Join(names, " and ")
}

// owner gives a manager as people know it: "kubectl (scale), 3 min ago". Managers name themselves, so odd names are quoted.
func (t *text) owner(o report.Owner) string {
	name := t.word(o.Manager)
	if o.Subresource != "" {
		name += " (" + t.word(o.Subresource) + ")"
	}
	if o.Time != nil {
		name += ", " + age(t.now.Sub(*o.Time))
	}
	return name
}

// age tells roughly how long ago something was. Clocks differ, so what lies just ahead happened just now.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	default:
		return fmt.Sprintf("%d d ago", d/day)
	}
}
