package report

import "time"

// Effect predicts what the write of one object means for pods, for what reaches them, and for data.
type Effect struct {
	// Text is the prediction in one short phrase, such as "restarts 3 pods, at least 2 stay ready".
	Text string `json:"text"`
	// Restarts is the number of pods that are replaced, plus the Pods without a controller whose containers restart in place. Starts and
	// Stops are the numbers of pods that are added and removed.
	Restarts int `json:"restarts,omitempty"`
	Starts   int `json:"starts,omitempty"`
	Stops    int `json:"stops,omitempty"`
	// LeastReady is the least number of ready pods while the write takes effect, if each new pod becomes ready. It is set for a workload
	// whose pods change, unless no controller has reported on them.
	LeastReady *int `json:"leastReady,omitempty"`
	// Downtime is set if the workload has ready pods now, but will have none for a time. For a Service or an autoscaler, its pods count.
	Downtime bool `json:"downtime,omitempty"`
	// Lost lists what is lost for good, such as the claims of a deleted StatefulSet.
	Lost []string `json:"lost,omitempty"`
	// Notes are further consequences, each a clause: what blocks the roll-out, what resets a value, which pods keep the old value.
	Notes []string `json:"notes,omitempty"`
	// RestartedAt is when a change of the live pod template, which has drifted, restarted the pods. It is nil if it did not.
	RestartedAt *time.Time `json:"restartedAt,omitempty"`
	// Inexact says why the prediction is less exact than it could be; empty if it is exact.
	Inexact string `json:"inexact,omitempty"`
}

// ReleaseEffect sums up the effects on the objects of a release.
type ReleaseEffect struct {
	// Text is the sum in one sentence.
	Text string `json:"text"`
	// Restarts, Starts and Stops count pods. Workloads counts the workloads whose pods restart.
	Restarts  int `json:"restarts"`
	Starts    int `json:"starts,omitempty"`
	Stops     int `json:"stops,omitempty"`
	Workloads int `json:"workloads"`
	// Downtime lists the workloads and Services that have no ready pod for a time.
	Downtime []ObjectKey `json:"downtime,omitempty"`
	// Inexact says why the prediction is less exact than it could be; empty if it is exact.
	Inexact string `json:"inexact,omitempty"`
}

// Map returns the effect with f applied to its texts; nil stays nil.
func (e *Effect) Map(f func(string) string) *Effect {
	if e == nil {
		return nil
	}
	out := *e
	out.Text, out.Inexact = f(e.Text), f(e.Inexact)
	out.Lost, out.Notes = mapped(e.Lost, f), mapped(e.Notes, f)
	return &out
}

// Map returns the effect with f applied to its texts; nil stays nil.
func (e *ReleaseEffect) Map(f func(string) string) *ReleaseEffect {
	if e == nil {
		return nil
	}
	out := *e
	out.Text, out.Inexact = f(e.Text), f(e.Inexact)
	return &out
}
