package e2e

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// tolerances counts, by name, the differences that the judge excuses because it cannot know what is right. A difference that the API
// server itself explains is not a tolerance.
type tolerances map[string]int

// toleranceRates says in how many of a hundred cases each tolerance is used: the highest of 502 cases of Helm 3, as many of Helm 4, and
// the stories, and 0.4 if fewer than two cases were seen, as 502 cases do not show that a rate is below 0.6 (three divided by their
// number). A run fails if it uses a tolerance much more often, or uses one without a rate.
var toleranceRates = map[string]float64{
	tolerateUncertain:     0.4,
	tolerateUnreached:     0.4,
	tolerateVague:         6,
	tolerateMore:          1.2,
	tolerateNoField:       0.9,
	tolerateHook:          0.4,
	tolerateAgreement:     0.4,
	tolerateInjected:      0.6,
	tolerateNodePort:      0.6,
	tolerateAddress:       0.4,
	tolerateRules:         2.4,
	tolerateOrder:         0.8,
	tolerateEmpty:         0.4,
	tolerateBelow:         0.4,
	tolerateDeletion:      0.4,
	tolerateSharedPort:    0.8,
	tolerateForgotten:     1.4,
	tolerateOwnerless:     0.4,
	tolerateNull:          0.8,
	tolerateDefault:       6.4,
	tolerateLimitRange:    0.4,
	tolerateFailedUpgrade: 6,
	tolerateAutoscaled:    0.4,
	tolerateUnpredicted:   0.4,
	tolerateStaleWrite:    0.4,
	tolerateConverted:     0.8,
}

// mostCases returns how many of a number of cases may use a tolerance with a rate. A run without errors exceeds it by chance once in
// ten thousand runs: cases are drawn independently, so their number has a Poisson distribution.
func mostCases(perHundred float64, cases int) int {
	mean := perHundred * float64(cases) / 100
	if mean == 0 {
		return 0
	}
	most, more := -1, 1.0 // more is the probability of more than most
	for more > 1e-4 {
		most++
		logFactorial, _ := math.Lgamma(float64(most) + 1)
		more -= math.Exp(float64(most)*math.Log(mean) - mean - logFactorial)
	}
	return most
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
	tolerateDeletion      = "a deletion that depends on an object that may fail"
	tolerateSharedPort    = "drift of a Service with two ports of one number"
	tolerateForgotten     = "an edit whose owner the server forgot"
	tolerateOwnerless     = "a scale of a custom resource, which leaves no owner"
	tolerateNull          = "a zero value where the chart has a null"
	tolerateDefault       = "a default that appears or disappears with a reported field"
	tolerateLimitRange    = "resources that a LimitRange added to a Pod"
	tolerateFailedUpgrade = "drift of an object that a failed upgrade may not have reached"
	tolerateAutoscaled    = "a field of an autoscaler had another effect"
	tolerateStaleWrite    = "a controller wrote between Helm's read of an object and its replacement"
	tolerateConverted     = "drift of an autoscaler that the report reads at another version than the judge"
	tolerateUnpredicted   = "a refusal that docs/verdict-rules.md lists under What is not predicted"
)

// count counts one use of a tolerance. A nil map counts nothing.
func (l tolerances) count(name string) {
	if l != nil {
		l[name]++
	}
}

// add counts the tolerances of one case, each once: one cause has several effects in a case.
func (l tolerances) add(other tolerances) {
	for name := range other {
		l[name]++
	}
}

// exceeded lists the tolerances that were used in more cases than a run of so many may use them in.
func (l tolerances) exceeded(cases int) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		rate, known := toleranceRates[name]
		if most := mostCases(rate, cases); !known || l[name] > most {
			out = append(out, fmt.Sprintf("%s: in %d cases, at most %d in %d", name, l[name], most, cases))
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
	out.WriteString("excused, in how many cases:")
	for _, name := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintf(&out, "\n  %d× %s", l[name], name)
	}
	return out.String()
}

// TestTolerances checks that a run fails if it uses a tolerance in too many cases.
func TestTolerances(t *testing.T) {
	wantFailedTally(t, tally{cases: 20, tolerated: tolerances{tolerateUnreached: 3}})
	wantFailedTally(t, tally{cases: 2000, tolerated: tolerances{"something new": 1}})
	wantPassedTally(t, tally{cases: 200, tolerated: tolerances{tolerateUnreached: 3}})
	wantPassedTally(t, tally{cases: 500, tolerated: tolerances{tolerateRules: 12}})
	wantFailedTally(t, tally{cases: 500, tolerated: tolerances{tolerateRules: 30}})
	wantPassedTally(t, tally{cases: 100000, tolerated: tolerances{tolerateRules: 2500}})
	wantFailedTally(t, tally{cases: 100000, tolerated: tolerances{tolerateRules: 2700}})
	counted := tolerances{}
	counted.add(tolerances{tolerateRules: 5})
	if counted[tolerateRules] != 1 {
		t.Errorf("one case is counted as %d", counted[tolerateRules])
	}
}
