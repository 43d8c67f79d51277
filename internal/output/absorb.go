package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/text/absorb"
	"github.com/helmdrift/helmdrift/internal/output/values"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// Only a result of absorb has these formats. They write its changes as a values file that overrides another one, or as a patch of the
// document where a tool keeps the values of the release.
const (
	Values   Format = "values"
	Flux     Format = "flux"
	ArgoCD   Format = "argocd"
	Helmfile Format = "helmfile"
	// HCL is an item for the argument values of a helm_release of Terraform.
	HCL Format = "hcl"
	// Kustomize writes what no value controls, as patches for a post-renderer.
	Kustomize Format = "kustomize"
)

// absorbWriters are the writers of a result of absorb by format.
func absorbWriters() []absorbFormat {
	return []absorbFormat{
		{Text, func(r *absorption.Result, o Options) ([]byte, error) { return absorb.Text(r, o.Text), nil }},
		{JSON, writeJSON[*absorption.Result]},
		{YAML, writeYAML[*absorption.Result]},
		{Values, writeAbsorbValues},
		{Flux, patchWriter(values.Flux)},
		{ArgoCD, patchWriter(values.ArgoCD)},
		{Helmfile, patchWriter(values.Helmfile)},
		{HCL, writeAbsorbHCL},
		{Kustomize, writeKustomization},
	}
}

type absorbFormat struct {
	name  Format
	write func(*absorption.Result, Options) ([]byte, error)
}

// AbsorbFormats returns the names of the formats of a result of absorb.
func AbsorbFormats() []string {
	var out []string
	for _, f := range absorbWriters() {
		out = append(out, string(f.name))
	}
	return out
}

// WriteAbsorb writes the result of an absorption to w in format f.
func WriteAbsorb(w io.Writer, f Format, r *absorption.Result, opts Options) error {
	for _, known := range absorbWriters() {
		if known.name == f {
			doc, err := known.write(r, opts)
			if err != nil {
				return err
			}
			return send(w, doc)
		}
	}
	return errors.New("absorb does not have this format")
}

// WriteAbsorbPick writes to w the question whether to absorb a field.
func WriteAbsorbPick(w io.Writer, r *absorption.Result, f absorption.Field, opts Options) error {
	return send(w, absorb.Pick(r, f, opts.Text))
}

// errMasked refuses an overlay that lacks values.
var errMasked = errors.New("the changed values may hold a secret and are not printed; with -f FILE, --write changes the file itself")

// isMasked reports whether the overlay is hidden. A patch may be masked because of its other lines.
func isMasked(r *absorption.Result) bool { return r.Masked && r.Overlay == nil }

// resetComment is what a reader must know before using a file with all values of a release.
const resetComment = "# All values of the release, for helm upgrade --reset-values -f. " +
	"With --reuse-values, Helm would keep a value that is not here any more.\n"

// writeAbsorbValues returns the changes as a values file or, if --reuse-values would not make them, all values.
func writeAbsorbValues(r *absorption.Result, _ Options) ([]byte, error) {
	comment, all, hidden := "", r.Overlay, isMasked(r)
	if r.Reset {
		comment, all, hidden = resetComment, r.Values, r.Values == nil
	}
	switch {
	case hidden:
		return nil, errMasked
	case len(all) == 0:
		return []byte(comment + "{}\n"), nil
	}
	doc, err := encodeYAML(all)
	return append([]byte(comment), bytes.TrimLeft(doc, "\n")...), err
}

// writeAbsorbHCL returns the changes as HCL.
func writeAbsorbHCL(r *absorption.Result, _ Options) ([]byte, error) {
	if isMasked(r) {
		return nil, errMasked
	}
	return []byte(values.HCL(r)), nil
}

// patchWriter returns the writer of a patch, with its comment before it.
func patchWriter(patch func(*absorption.Result) values.Document) func(*absorption.Result, Options) ([]byte, error) {
	return func(r *absorption.Result, _ Options) ([]byte, error) {
		if isMasked(r) {
			return nil, errMasked
		}
		document := patch(r)
		doc, err := encodeYAML(document.Content)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		for _, line := range document.Comment {
			out.WriteString("# " + line + "\n")
		}
		out.Write(bytes.TrimLeft(doc, "\n"))
		return out.Bytes(), nil
	}
}

// kustomizationComment is what a reader must know before using a kustomization. It has no text from the cluster.
const kustomizationComment = "# Patches of what no value of the chart controls, for a post-renderer " +
	"that writes what Helm renders into all.yaml (docs/absorb.md has it).\n"

// writeKustomization returns the patches for a post-renderer as a kustomization.yaml. A patch is a document within the document: its lines
// are indented, and no text of the cluster begins a line.
func writeKustomization(r *absorption.Result, _ Options) ([]byte, error) {
	k := r.Kustomization
	if k == nil {
		k = absorption.NewKustomization(nil)
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
		APIVersion string                   `json:"apiVersion"`
		Kind       string                   `json:"kind"`
		Resources  []string                 `json:"resources"`
		Sort       absorption.KustomizeSort `json:"sortOptions"`
	}{k.APIVersion, k.Kind, k.Resources, k.SortOptions})
	if len(k.Patches) > 0 {
		out.WriteString("patches:\n")
	}
	for _, p := range k.Patches {
		out.WriteString("- target:\n")
		err = errors.Join(err, writeBlock(&out, "    ", p.Target))
		out.WriteString("  patch: |-\n")
		err = errors.Join(err, writeBlock(&out, "    ", json.RawMessage(p.Patch)))
	}
	return out.Bytes(), err
}

// unpatched returns how many fields are left without a patch.
func unpatched(r *absorption.Result) int {
	n := 0
	for _, f := range r.Fields {
		n += layout.OneIf(f.IsLeft() && !f.Patched)
	}
	return n
}

// writeBlock writes v in YAML, with each line indented.
func writeBlock(out *bytes.Buffer, indent string, v any) error {
	doc, err := encodeYAML(v)
	for line := range bytes.Lines(bytes.Trim(doc, "\n")) {
		fmt.Fprintf(out, "%s%s\n", indent, bytes.TrimSuffix(line, []byte("\n")))
	}
	return err
}
