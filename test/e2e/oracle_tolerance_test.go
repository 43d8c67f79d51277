package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tolerances counts, by name, the differences that the judge excuses because it cannot know what is right. A difference that the API
// server itself explains is no tolerance.
type tolerances map[string]int

// toleranceBounds says how often a run may use each tolerance: per hundred cases, and in any run however short. A run fails if it exceeds
// a bound or uses a tolerance without a bound.
var toleranceBounds = map[string]struct{ perHundred, always int }{
	tolerateUncertain:     {5, 3},
	tolerateUnreached:     {2, 2},
	tolerateVague:         {15, 4},
	tolerateMore:          {5, 3},
	tolerateNoField:       {2, 2},
	tolerateHook:          {3, 2},
	tolerateAgreement:     {3, 2},
	tolerateInjected:      {5, 3},
	tolerateNodePort:      {6, 3},
	tolerateAddress:       {3, 2},
	tolerateRules:         {6, 3},
	tolerateOrder:         {6, 3},
	tolerateEmpty:         {2, 2},
	tolerateBelow:         {2, 2},
	tolerateHookDrift:     {3, 2},
	tolerateSharedPort:    {3, 2},
	tolerateForgotten:     {8, 4},
	tolerateOwnerless:     {5, 4},
	tolerateNull:          {3, 2},
	tolerateDefault:       {20, 6},
	tolerateLimitRange:    {3, 2},
	tolerateFailedUpgrade: {25, 8},
	tolerateAutoscaled:    {3, 2},
}

const (
	tolerateUncertain     = "the report leaves open whether an object fails"
	tolerateUnreached     = "Helm never reached a predicted failure"
	tolerateVague         = "the server names a field above or below the predicted one"
	tolerateMore          = "the server names more fields than the reason"
	tolerateNoField       = "the server's decoder names no field"
	tolerateHook          = "hooks failed"
	tolerateAgreement     = "the reports with and without a dry run are not compared"
	tolerateInjected      = "a CA bundle that an injector writes"
	tolerateNodePort      = "a node port that the server chose"
	tolerateAddress       = "an address that the server chose"
	tolerateRules         = "rules that a controller writes"
	tolerateOrder         = "the order of a list that is a set or has items of others"
	tolerateEmpty         = "an empty map or list that appeared or disappeared"
	tolerateBelow         = "the server could not be asked about what is below a changed path"
	tolerateHookDrift     = "drift of an object that was deployed as a hook"
	tolerateSharedPort    = "drift of a Service with two ports of one number"
	tolerateForgotten     = "an edit whose owner the server forgot"
	tolerateOwnerless     = "a scale of a custom resource, which leaves no owner"
	tolerateNull          = "a zero value where the chart has a null"
	tolerateDefault       = "a default that appears or disappears with a reported field"
	tolerateLimitRange    = "resources that a LimitRange added to a Pod"
	tolerateFailedUpgrade = "drift of an object that a failed upgrade may not have reached"
	tolerateAutoscaled    = "a field of an autoscaler had another effect"
)

// count counts one use of a tolerance. A nil map counts nothing.
func (l tolerances) count(name string) {
	if l != nil {
		l[name]++
	}
}

func (l tolerances) add(other tolerances) {
	for name, n := range other {
		l[name] += n
	}
}

// exceeded lists the tolerances that were used more often than a run of so many cases may use them.
func (l tolerances) exceeded(cases int) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		bound, known := toleranceBounds[name]
		most := max(bound.always, bound.perHundred*cases/100)
		if !known || l[name] > most {
			out = append(out, fmt.Sprintf("%s: %d times, at most %d in %d cases", name, l[name], most, cases))
		}
	}
	return out
}

// String returns the counts as a run prints them.
func (l tolerances) String() string {
	if len(l) == 0 {
		return "excused: nothing"
	}
	var out strings.Builder
	out.WriteString("excused:")
	for _, name := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintf(&out, "\n  %d× %s", l[name], name)
	}
	return out.String()
}
