package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/unified"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is the values file of absorb: how it is read, changed in place, and written.

// valuesFile is the values file that absorb changes. Its zero value stands for the values that the release stores.
type valuesFile struct {
	name string
	text []byte
}

// readValuesFile reads the last values file, and lets the chart read each file once from then on: standard input ends, a plugin may ask for
// a passphrase, and a search that began with one content must not go on with another one.
func readValuesFile(ctx context.Context, name string, chart *drift.Chart) (*valuesFile, error) {
	v := &valuesFile{name: name}
	if name == "" {
		return v, nil
	}
	read := chart.ReadFile
	if read == nil {
		read = func(ctx context.Context, name string) ([]byte, error) {
			return fetch.ReadFile(ctx, name, nil, chart.Source.Plugins)
		}
	}
	text, err := read(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	v.text = text
	var mu sync.Mutex
	texts := map[string][]byte{name: text}
	chart.ReadFile = func(ctx context.Context, name string) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if text, known := texts[name]; known {
			return text, nil
		}
		text, err := read(ctx, name)
		if err == nil {
			texts[name] = text
		}
		return text, err
	}
	return v, nil
}

// rewrite implements drift.AbsorbOptions.Rewrite. Without a file it changes the stored values as a text of YAML.
func (v *valuesFile) rewrite(edits []absorb.Edit, edited map[string]any) ([]byte, error) {
	name := v.name
	if name == "" {
		name = storedValues
		if len(edited) > 0 {
			text, err := yaml.Marshal(edited)
			if err != nil {
				return nil, err
			}
			v.text = text
		}
	}
	return drift.RewriteValues(name, v.text, edits)
}

// describe adds the file and its patch to a result. A patch that would show a secret has it masked.
func (v *valuesFile) describe(r *report.AbsorbResult, a *drift.Absorption) {
	r.ValuesFile = v.name
	if len(a.Edits) == 0 {
		return
	}
	name := v.name
	if name == "" {
		name = storedValues
	}
	patch := unified.Diff(name, name, string(v.text), string(a.Content))
	conceals := a.Conceals()
	r.Patch = a.Scrub(unified.Diff(name, name, concealed(v.text, conceals), concealed(a.Content, conceals)))
	r.Masked = r.Masked || r.Patch != patch
}

// concealed returns a values file as it may be shown.
func concealed(text []byte, hides func(string) bool) string {
	file, err := valuesfile.Parse("", text)
	if err != nil {
		return string(text) // absorb has parsed it already
	}
	return file.Conceal(secret.Mask, func(_ []any, value string) bool { return hides(value) })
}

// storedValues is the name of the file if none is given.
const storedValues = "values.yaml"

// write replaces the file. It appears when it is complete, with the mode of the old one, unless it changed since it was read.
func (v *valuesFile) write(text []byte) error {
	now, err := os.ReadFile(v.name)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, v.text) {
		return fmt.Errorf("%s changed while absorb was searching; nothing was written", v.name)
	}
	name, err := filepath.EvalSymlinks(v.name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return files.Replace(name, text, info.Mode().Perm())
}
