package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
)

// check compares what helm reads of a release with what the generator wrote, and lets the other tools run once.
func (b *bench) check(ctx context.Context, r runner, release fleet.Release) error {
	want, err := release.Manifest()
	if err != nil {
		return err
	}
	got, err := r.manifest(ctx, targetOf(release))
	if err != nil {
		return err
	}
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		return fmt.Errorf("helm get manifest %s prints another manifest than was written", release.Name)
	}
	if r.helmDiff == "" {
		return nil
	}
	if err := r.saveChart(release); err != nil {
		return err
	}
	return r.savedDiff(ctx, release)
}

// checkReport checks that a report has all releases, no errors, and drift where the generator made it.
func (b *bench) checkReport(text []byte, size int) error {
	var report struct {
		Releases []struct {
			Name, Namespace string
			Drifted         bool
			Errors          []json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	want := map[string]bool{}
	for number := range size {
		release := b.fleet.Release(number)
		want[release.Namespace+"/"+release.Name] = release.Drift != fleet.NoDrift
	}
	for _, release := range report.Releases {
		name := release.Namespace + "/" + release.Name
		drifted, known := want[name]
		if !known || drifted != release.Drifted || len(release.Errors) > 0 {
			return fmt.Errorf("report: %s: drifted %v, errors %s; in the fleet: %v, drifted %v",
				name, release.Drifted, release.Errors, known, drifted)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		return fmt.Errorf("report: %d of %d releases are missing", len(want), size)
	}
	return nil
}
