package threeway

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/verdict"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// joinKeys lists the objects that block another.
func joinKeys(keys []report.ObjectKey) string {
	var names []string
	for _, k := range keys {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

// describe writes a comparison for a case: a line for each object, with its findings below it.
func describe(c *Comparison) string {
	var b strings.Builder
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "warning %s: %s: %s\n", w.Code, w.Object, w.Message)
	}
	for _, e := range c.Errors {
		fmt.Fprintf(&b, "error %s: %s: %s\n", e.Code, e.Object, e.Message)
	}
	for _, o := range c.Objects {
		fmt.Fprintf(&b, "%s: %s", o.key, o.Action)
		say(&b, o.Missing, " missing")
		say(&b, o.Terminating, " terminating")
		say(&b, o.Drifted(), " drifted")
		say(&b, o.Reason != "", ": "+o.Reason)
		say(&b, len(o.BlockedBy) > 0, " by "+joinKeys(o.BlockedBy))
		if o.Err != nil {
			fmt.Fprintf(&b, " error %s: %s", o.Err.Code, o.Err.Message)
		}
		say(&b, o.IgnoredBy != nil, " ignored by "+ruleName(o.IgnoredBy))
		say(&b, o.Controllers > 0, fmt.Sprintf(" controllers=%d", o.Controllers))
		say(&b, o.Forgotten > 0, fmt.Sprintf(" forgotten=%d", o.Forgotten))
		say(&b, len(o.Notes) > 0, "\n    note: "+o.Notes.String())
		b.WriteString("\n")
		for _, f := range o.Findings {
			describeField(&b, f)
		}
	}
	return b.String()
}

func say(b *strings.Builder, whether bool, text string) {
	if whether {
		b.WriteString(text)
	}
}

func ruleName(r *report.IgnoreRule) string {
	if r == nil {
		return ""
	}
	return r.Rule
}

func describeField(b *strings.Builder, f verdict.Finding) {
	fmt.Fprintf(b, "  %s/%s %s", f.Verdict, f.Cause, f.Path)
	for _, side := range []struct {
		name  string
		value any
	}{{"old", f.Old}, {"desired", f.Desired}, {"live", f.Live}, {"after", f.After}} {
		if side.value != nil {
			raw, _ := json.Marshal(side.value)
			fmt.Fprintf(b, " %s=%s", side.name, raw)
		}
	}
	say(b, !f.Managed, " unmanaged")
	say(b, f.Class != "", " "+string(f.Class))
	say(b, f.Equivalent, " equivalent")
	say(b, f.Blocked, " blocked")
	say(b, !f.Certain, " uncertain")
	for _, o := range f.Owners {
		fmt.Fprintf(b, " by %s", o.Manager)
		say(b, o.Subresource != "", "("+o.Subresource+")")
	}
	say(b, f.IgnoredBy != nil, " ignored by "+ruleName(f.IgnoredBy))
	say(b, len(f.Notes) > 0, "\n    note: "+f.Notes.String())
	b.WriteString("\n")
}

// describeInside writes what the report says of documents inside values.
func describeInside(c *Comparison, mask Mask) string {
	var b strings.Builder
	for _, o := range c.Report(mask).Objects {
		for _, f := range o.Fields {
			if f.Inside == nil {
				fmt.Fprintf(&b, "%s %s %s: nothing\n", o.Kind, o.Name, f.Path)
				continue
			}
			fmt.Fprintf(&b, "%s %s %s: %s", o.Kind, o.Name, f.Path, f.Inside.Format)
			say(&b, f.Inside.OnlyFormatting, ", only formatting")
			say(&b, f.Inside.More > 0, fmt.Sprintf(", %d more", f.Inside.More))
			b.WriteString("\n")
			for _, change := range f.Inside.Changes {
				raw, _ := json.Marshal(change)
				fmt.Fprintf(&b, "  %s\n", raw)
			}
		}
	}
	return b.String()
}

// describeRequests writes the requests of a comparison, one a line.
func describeRequests(c *Comparison) string {
	var b strings.Builder
	for _, r := range c.Requests() {
		fmt.Fprintf(&b, "%s %s %s", r.Method, r.Ref.APIVersion(), r.Ref.Key)
		say(&b, r.PatchType != "", " "+strings.TrimSuffix(strings.TrimPrefix(r.PatchType, "application/"), "+json"))
		fmt.Fprintf(&b, " %s\n", r.Body)
	}
	return b.String()
}
