package corpus

import (
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestJudge lets the truth be the prediction, which is right in each case, and then changes one thing.
func TestJudge(t *testing.T) {
	cases, err := Read("../../../testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if wrong := c.Judge(c.Truth); len(wrong) > 0 {
			t.Errorf("%s: the truth is wrong: %q", c.Name, wrong)
		}
		changed := Truth{Error: "it fails"}
		if c.Error != "" {
			changed = Truth{}
		}
		if len(c.Judge(changed)) == 0 {
			t.Errorf("%s: the opposite is right", c.Name)
		}
		if c.Error != "" || c.After == nil {
			continue
		}
		changed.Error = ""
		changed.After, _ = object.Copy(c.After).(map[string]any)
		labels := object.Child(object.Child(changed.After, "metadata"), "labels")
		if labels == nil {
			continue
		}
		labels["predicted"] = "wrongly"
		if wrong := c.Judge(changed); len(wrong) != 1 || wrong[0] != "metadata.labels.predicted" {
			t.Errorf("%s: %q", c.Name, wrong)
		}
	}
}
