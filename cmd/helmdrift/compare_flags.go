package main

import (
	"fmt"
)

// compareOptions are the flags that diff and fix share because both begin with a comparison. fix adds only some of them as flags; the
// others keep their zero values there.
type compareOptions struct {
	desiredOptions
	ignoreOptions
	revision int
}

func newCompareOptions(s streams) compareOptions {
	return compareOptions{desiredOptions: newDesiredOptions(s)}
}

// checkRevision refuses revisions that cannot exist.
func (o *compareOptions) checkRevision() error {
	if o.revision < 0 {
		return fmt.Errorf("--revision %d: revisions begin at 1", o.revision)
	}
	return nil
}
