package report

import (
	"encoding/json"
	"iter"
)

// Inside says what differs inside the documents of a finding whose sides are documents. Verdict and counts belong to the finding.
type Inside struct {
	// Format is yaml, json or toml.
	Format string `json:"format"`
	// OnlyFormatting is set if every parser reads the same from all sides. It is still a finding, because pods see the bytes.
	OnlyFormatting bool           `json:"onlyFormatting,omitempty"`
	Changes        []InsideChange `json:"changes,omitempty"`
	// More counts the changes that are not listed.
	More int `json:"more,omitempty"`
}

// These are the kinds of changes inside a document. They say what became of old: in live if that differs, or else in desired.
const (
	InsideAdded     = "added"
	InsideRemoved   = "removed"
	InsideChanged   = "changed"
	InsideReordered = "reordered"
)

// InsideChange is one place of a document that differs. A side without the place has no key; if the change is masked, no side has one.
type InsideChange struct {
	Path    string `json:"path"`
	Change  string `json:"change"`
	Cause   Cause  `json:"cause"`
	Masked  bool   `json:"masked,omitempty"`
	Old     any    `json:"old,omitempty"`
	Desired any    `json:"desired,omitempty"`
	Live    any    `json:"live,omitempty"`
	// Nulls are the names of the sides that hold a null, as in a Finding.
	Nulls []string `json:"nulls,omitempty"`
}

// MarshalJSON encodes the change in the same way as a Finding.
func (c InsideChange) MarshalJSON() ([]byte, error) {
	type plain InsideChange
	out := plain(c)
	out.Nulls = takeNulls((*InsideChange)(&out).sides())
	return json.Marshal(out)
}

// UnmarshalJSON decodes a change in the same way as a Finding.
func (c *InsideChange) UnmarshalJSON(raw []byte) error {
	type plain InsideChange
	return decodeSides(raw, (*plain)(c), c.sides(), &c.Nulls)
}

// sides returns the values of the change by their keys, in the order of a report.
func (c *InsideChange) sides() iter.Seq2[string, *any] {
	return func(yield func(string, *any) bool) {
		_ = yield("old", &c.Old) && yield("desired", &c.Desired) && yield("live", &c.Live)
	}
}
