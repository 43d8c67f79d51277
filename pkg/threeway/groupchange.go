package threeway

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// noteGroupChanges marks an object that moves to another API group while it stays the same object. Helm matches objects by group,
// so it patches the object of desired and then deletes that of old, which is the same (helm v3.22.0 pkg/kube/client.go update,
// resource.go isMatchingInfo and Difference).
func (c *Comparison) noteGroupChanges() {
	kept := map[string]*ObjectComparison{}
	for i := range c.Objects {
		o := &c.Objects[i]
		if uid := o.uid(); uid != "" && o.desiredText != nil {
			kept[uid] = o
		}
	}
	for i := range c.Objects {
		gone := &c.Objects[i]
		stays := kept[gone.uid()]
		if gone.Action != report.ActionDelete || stays == nil {
			continue
		}
		gone.Notes.Add(report.NoteObject, fmt.Sprintf("this deletes %s as well: both are one object, served under two API groups", stays.key))
		stays.Notes.Add(report.NoteObject, fmt.Sprintf("Helm deletes what it has just updated: it also deletes %s, and both are one object, served under two API groups", gone.key))
	}
}
