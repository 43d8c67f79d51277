package ci

import (
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxInside is how many changes inside a document are named.
const maxInside = 3

// inside says in a clause what differs inside the documents of a finding. It is empty if the sides are not documents. It leaves out
// values, because the values of the finding stand beside it.
func inside(in *report.Inside) string {
	if in == nil {
		return ""
	}
	if in.OnlyFormatting {
		return "; only formatting differs"
	}
	var said []string
	for _, c := range in.Changes[:min(maxInside, len(in.Changes))] {
		said = append(said, shorten(line(c.Path), maxValue)+" "+line(c.Change))
	}
	if more := len(in.Changes) - len(said) + in.More; more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	return "; inside: " + strings.Join(said, ", ")
}
