package release_test

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/release"
)

// Choose finds the revision from which helm upgrade would start: the last one that was deployed, not a failed one after it.
func ExampleHistory_Choose() {
	history := release.History{Entries: []release.Entry{
		{Release: "web", Revision: 1, Status: "superseded"},
		{Release: "web", Revision: 2, Status: "deployed"},
		{Release: "web", Revision: 3, Status: "failed"},
	}}
	choice, err := history.Choose(0)
	if err != nil {
		panic(err)
	}
	fmt.Println("old:", choice.Old.Revision, "last:", choice.Last.Revision)
	// Output:
	// old: 2 last: 3
}
