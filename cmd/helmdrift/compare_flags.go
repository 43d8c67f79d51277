package main

import "fmt"

// compareOptions are the options of a comparison, with which both diff and fix begin. diff has flags for all of them. fix has flags for the
// ignore rules, the limits and the revision only: it compares with what Helm deployed, and how the release is applied is in its record.
type compareOptions struct {
	desiredOptions
	ignoreOptions
	// revision is the stored revision to start from; 0 means the one that helm upgrade would start from.
	revision int
}

// newCompareOptions returns the defaults.
func newCompareOptions(s streams, c *connection) compareOptions {
	return compareOptions{desiredOptions: newDesiredOptions(s, c)}
}

// checkRevision refuses revisions that cannot exist.
func (o *compareOptions) checkRevision() error {
	if o.revision < 0 {
		return fmt.Errorf("--revision %d: revisions begin at 1", o.revision)
	}
	return nil
}
