package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tolerances counts what the judge lets through although it cannot tell that it is right, by name. A difference that the API server
// itself explains is no tolerance.
type tolerances map[string]int

// The tolerances, and how many of each a run may have: per hundred cases, and in any run however short. What exceeds its bound fails
// the run, and so does a tolerance without a bound.
var toleranceBounds = map[string]struct{ perHundred, always int }{
	tolerateUncertain:   {20, 6},
	tolerateUnreached:   {2, 2},
	tolerateVague:       {10, 4},
	tolerateMore:        {10, 4},
	tolerateNoField:     {2, 2},
	tolerateHook:        {2, 2},
	tolerateAgreement:   {10, 4},
	tolerateInjected:    {10, 4},
	tolerateNodePort:    {20, 6},
	tolerateAddress:     {5, 3},
	tolerateRules:       {10, 4},
	tolerateOrder:       {10, 4},
	tolerateEmpty:       {20, 6},
	tolerateBelow:       {2, 2},
	tolerateHookDrift:   {5, 3},
	tolerateSharedPort:  {5, 3},
	tolerateForgotten:   {5, 3},
	tolerateOwnerless:   {5, 3},
	tolerateNull:        {10, 4},
	tolerateDefault:     {20, 6},
	tolerateLimitRange:  {5, 3},
	tolerateStumble:     {10, 4},
	tolerateAutoscaled:  {5, 3},
	tolerateNotAskedFor: {5, 3},
}

const (
	tolerateUncertain   = "the report leaves open whether an object fails"
	tolerateUnreached   = "a predicted failure was never reached"
	tolerateVague       = "the server names a field above or below ours"
	tolerateMore        = "the server names more fields than the reason"
	tolerateNoField     = "the server's decoder names no field"
	tolerateHook        = "hooks failed"
	tolerateAgreement   = "the reports with and without a dry run are not compared"
	tolerateInjected    = "a CA bundle that is left to an injector"
	tolerateNodePort    = "a node port that the server chose"
	tolerateAddress     = "an address that the server chose"
	tolerateRules       = "rules that a controller puts together"
	tolerateOrder       = "the order of a list that is a set or has foreign items"
	tolerateEmpty       = "an empty map or list that came or went"
	tolerateBelow       = "the server could not be asked about what is below a changed path"
	tolerateHookDrift   = "drift of an object that was deployed as a hook"
	tolerateSharedPort  = "drift of a Service with two ports of one number"
	tolerateForgotten   = "an edit whose owner the server forgot"
	tolerateOwnerless   = "a scale of a custom resource, which leaves no owner"
	tolerateNull        = "a zero value where the chart has a null"
	tolerateDefault     = "a default that comes or goes with a reported field"
	tolerateLimitRange  = "resources that a LimitRange gave a Pod"
	tolerateStumble     = "it is not known whether a failed upgrade reached an object"
	tolerateAutoscaled  = "a field of an autoscaler had another effect"
	tolerateNotAskedFor = "an object of the charts that the judge cannot follow"
)

// let counts one use of a tolerance. A judge without a ledger counts nothing.
func (l tolerances) let(name string) {
	if l != nil {
		l[name]++
	}
}

func (l tolerances) add(other tolerances) {
	for name, n := range other {
		l[name] += n
	}
}

// exceeded lists the tolerances that were used more often than a run of so many cases may.
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

// String is the ledger as a run prints it.
func (l tolerances) String() string {
	if len(l) == 0 {
		return "let through: nothing"
	}
	var out strings.Builder
	out.WriteString("let through:")
	for _, name := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintf(&out, "\n  %d× %s", l[name], name)
	}
	return out.String()
}
