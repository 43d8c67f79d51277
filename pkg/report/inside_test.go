package report

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestInsideIsRead checks that a change inside a document is decoded as it was encoded, with its nulls and integers.
func TestInsideIsRead(t *testing.T) {
	want := Finding{ID: "x", Inside: &Inside{Format: "json", More: 2, Changes: []InsideChange{
		{Path: "a", Change: InsideChanged, Cause: CauseDrift, Old: object.Null{}, Desired: object.Null{}, Live: int64(1) << 60},
		{Path: "b", Change: InsideAdded, Cause: CauseDrift, Live: map[string]any{"c": int64(1)}},
		{Path: "c", Change: InsideRemoved, Cause: CauseChange, Masked: true},
	}}}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Finding
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", raw, diff)
	}
}
