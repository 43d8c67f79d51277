package main

import (
	"maps"

	"github.com/helmdrift/helmdrift/internal/confine"
)

// This file is the only place that knows all guests. A guest is a feature beside the core, which is diff and fix of one release: the core
// does not import it, and it imports no other guest. "make guests" removes each of them with its files and its line in the function guests,
// and builds the rest.

// guests returns the guests of the program, one in each line.
func guests() []guest {
	return []guest{
		absorbGuest(),
		forecastGuest(),
		fleetGuest(),
		snapshotGuest(),
		historyGuest(),
		rolloutGuest(),
		fluxGuest(),
		argoGuest(),
		terraformGuest(),
		helmfileGuest(),
	}
}

// allGuests returns what all guests add. If several guests have the same thing that the program needs once, it is that of the first.
func allGuests() guest {
	all := guest{jobs: map[string]confine.Job{}, as: map[string]func([]string) int{}}
	for _, g := range guests() {
		all.commands = append(all.commands, g.commands...)
		all.controllers = append(all.controllers, g.controllers...)
		all.files = append(all.files, g.files...)
		maps.Copy(all.jobs, g.jobs)
		maps.Copy(all.as, g.as)
		if all.forecast == nil {
			all.forecast = g.forecast
		}
		if all.open == nil {
			all.open = g.open
		}
		if all.scan == nil {
			all.scan = g.scan
		}
		if all.waiter == nil {
			all.waiter = g.waiter
		}
	}
	return all
}
