package terraform

import (
	"strings"
	"testing"
)

// TestCheckEdits names the entries of set that win over changes of values.
func TestCheckEdits(t *testing.T) {
	step := Step{release: Release{Sets: []SetName{
		{"set[0]", "replicas"}, {"set[1]", "image.tag"}, {"set[2]", "hosts[0].name"},
		{"set_list[0]", "args"}, {"set[3]", `node\.role`}, {"set[4]", "a[0][1]"},
	}}}
	for _, tt := range []struct {
		path []any
		want string
	}{
		{[]any{"replicas"}, "set[0]"},
		{[]any{"image"}, "set[1]"},
		{[]any{"image", "tag"}, "set[1]"},
		{[]any{"image", "name"}, ""},
		{[]any{"hosts", 1, "name"}, "set[2]"}, // a change of the values would replace the list
		{[]any{"hosts", 0, "port"}, ""},
		{[]any{"args", 2}, "set_list[0]"},
		{[]any{"node", "role"}, ""},
		{[]any{"node.role"}, "set[3]"},
		{[]any{"a", 0, 1, "b"}, "set[4]"},
	} {
		var got []string
		for _, m := range step.CheckEdits([][]any{tt.path}) {
			title, _, _ := strings.Cut(m.Message, " ")
			got = append(got, title)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v: got %q, want %q", tt.path, got, tt.want)
		}
	}
}
