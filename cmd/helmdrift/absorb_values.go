package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/helmdrift/helmdrift/internal/absorb"
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

// readValuesFile reads the last values file, and lets the chart read it from memory from then on: standard input can be read once.
func readValuesFile(ctx context.Context, name string, chart *drift.Chart) (*valuesFile, error) {
	v := &valuesFile{name: name}
	if name == "" {
		return v, nil
	}
	read := chart.ReadFile
	if read == nil {
		read = func(ctx context.Context, name string) ([]byte, error) { return fetch.ReadFile(ctx, name, nil) }
	}
	text, err := read(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	v.text = text
	chart.ReadFile = func(ctx context.Context, other string) ([]byte, error) {
		if other == name {
			return text, nil
		}
		return read(ctx, other)
	}
	return v, nil
}

// rewrite implements drift.AbsorbOptions.Rewrite.
func (v *valuesFile) rewrite(_ []absorb.Edit, _ map[string]any) ([]byte, error) { return nil, nil }

// describe adds the patch of the file to a result.
func (v *valuesFile) describe(_ *report.AbsorbResult, _ *drift.Absorption) {}

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
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, bytes.NewReader(text))
	if err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
