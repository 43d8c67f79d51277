package output

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// kustomizationComment is what a reader must know before using a kustomization. It has no text from the cluster.
const kustomizationComment = `# Patches of what no value of the chart controls, for a post-renderer that writes what Helm renders into all.yaml (docs/absorb.md has it).
`

// writeKustomization returns the patches for a post-renderer as a kustomization.yaml. A patch is a document within the document: its lines
// are indented, and no text of the cluster begins a line.
func writeKustomization(r *report.AbsorbResult, _ Options) ([]byte, error) {
	k := r.Kustomization
	if k == nil {
		k = report.NewKustomization(nil)
	}
	var out bytes.Buffer
	out.WriteString(kustomizationComment)
	if len(r.Edits) > 0 && !r.Written {
		out.WriteString("# The changes of values come first: they were proved together, and --write makes them.\n")
	}
	if n := unpatched(r); n > 0 {
		fmt.Fprintf(&out, "# %d of the fields that are left have no patch; -o text says why they are left.\n", n)
	}
	err := writeBlock(&out, "", struct {
		APIVersion string               `json:"apiVersion"`
		Kind       string               `json:"kind"`
		Resources  []string             `json:"resources"`
		Sort       report.KustomizeSort `json:"sortOptions"`
	}{k.APIVersion, k.Kind, k.Resources, k.SortOptions})
	if len(k.Patches) > 0 {
		out.WriteString("patches:\n")
	}
	for _, p := range k.Patches {
		if err == nil {
			out.WriteString("- target:\n")
			err = writeBlock(&out, "    ", p.Target)
		}
		if err == nil {
			out.WriteString("  patch: |-\n")
			err = writeBlock(&out, "    ", json.RawMessage(p.Patch))
		}
	}
	return out.Bytes(), err
}

// unpatched returns how many fields are left without a patch.
func unpatched(r *report.AbsorbResult) int {
	n := 0
	for _, f := range r.Fields {
		if f.IsLeft() && !f.Patched {
			n++
		}
	}
	return n
}

// writeBlock writes v in YAML, with each line indented.
func writeBlock(out *bytes.Buffer, indent string, v any) error {
	doc, err := encodeYAML(v)
	for line := range bytes.Lines(bytes.Trim(doc, "\n")) {
		out.WriteString(indent)
		out.Write(bytes.TrimSuffix(line, []byte("\n")))
		out.WriteByte('\n')
	}
	return err
}
