package output

import (
	"bytes"
	"errors"
	"io"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/output/values"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// The formats that only an AbsorbResult has: its changes as a values file that overrides another one, or as a patch of the document in
// which a tool keeps the values of the release.
const (
	Values   Format = "values"
	Flux     Format = "flux"
	ArgoCD   Format = "argocd"
	Helmfile Format = "helmfile"
	// Kustomize is what no value controls, as patches for a post-renderer.
	Kustomize Format = "kustomize"
)

// absorbWriters are the writers of an AbsorbResult by format.
func absorbWriters() []absorbFormat {
	return []absorbFormat{
		{Text, func(r *report.AbsorbResult, o Options) ([]byte, error) { return text.Absorb(r, o.Text), nil }},
		{JSON, func(r *report.AbsorbResult, _ Options) ([]byte, error) { return escape.Encode(r, "  ") }},
		{YAML, func(r *report.AbsorbResult, _ Options) ([]byte, error) { return encodeYAML(r) }},
		{Values, writeAbsorbValues},
		{Flux, patchWriter(values.Flux)},
		{ArgoCD, patchWriter(values.ArgoCD)},
		{Helmfile, patchWriter(values.Helmfile)},
		{Kustomize, writeKustomization},
	}
}

type absorbFormat struct {
	name  Format
	write func(*report.AbsorbResult, Options) ([]byte, error)
}

// AbsorbFormats returns the names of the formats of an AbsorbResult.
func AbsorbFormats() []string {
	var out []string
	for _, f := range absorbWriters() {
		out = append(out, string(f.name))
	}
	return out
}

// WriteAbsorb writes the result of an absorption to w in format f.
func WriteAbsorb(w io.Writer, f Format, r *report.AbsorbResult, opts Options) error {
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

// errMasked refuses an overlay that lacks values.
var errMasked = errors.New("the changed values may hold a secret and are not printed; with -f FILE, --write changes the file itself")

// isMasked reports whether the overlay is hidden. A patch may be masked because of its other lines.
func isMasked(r *report.AbsorbResult) bool { return r.Masked && r.Overlay == nil }

// writeAbsorbValues returns the changes as a values file.
func writeAbsorbValues(r *report.AbsorbResult, _ Options) ([]byte, error) {
	if isMasked(r) {
		return nil, errMasked
	}
	if len(r.Overlay) == 0 {
		return []byte("{}\n"), nil
	}
	doc, err := encodeYAML(r.Overlay)
	return bytes.TrimLeft(doc, "\n"), err
}

// patchWriter returns the writer of a patch, with its comment before it.
func patchWriter(patch func(*report.AbsorbResult) values.Document) func(*report.AbsorbResult, Options) ([]byte, error) {
	return func(r *report.AbsorbResult, _ Options) ([]byte, error) {
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
