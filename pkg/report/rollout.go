package report

// RolloutStatus is what became of the wait for one object.
type RolloutStatus string

// The statuses: the object is as it should be; it has ended and does not come up by itself; the time was over; the wait was interrupted.
const (
	RolloutReady       RolloutStatus = "ready"
	RolloutFailed      RolloutStatus = "failed"
	RolloutTimedOut    RolloutStatus = "timed-out"
	RolloutInterrupted RolloutStatus = "interrupted"
)

// Rollout is how far an object came up after it was written. Its texts come from the cluster and are scrubbed.
type Rollout struct {
	// Status is empty while the wait goes on.
	Status RolloutStatus `json:"status"`
	// PodCounts is nil for kinds without pods.
	*PodCounts
	// Message is how far the object is, in the words of the library that Helm 4 waits with.
	Message string `json:"message,omitempty"`
	RolloutProblem
	// Unread are the resources that could not be read, such as "pods". The problem is less exact then, or missing.
	Unread []string `json:"unread,omitempty"`
}

// PodCounts counts the pods of a workload.
type PodCounts struct {
	Wanted      int64 `json:"wanted"`
	Updated     int64 `json:"updated"`
	Ready       int64 `json:"ready"`
	Unavailable int64 `json:"unavailable"`
}

// RolloutProblem is why an object does not come up, with what the cluster says about it. Only Reason is always set; all of it is empty if
// nothing is known.
type RolloutProblem struct {
	Reason    string `json:"reason,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	// ExitCode is that of the container, if it ended.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Events are the last ones about the objects of the problem, the oldest first.
	Events []RolloutEvent `json:"events,omitempty"`
	// Log is the end of the container's log, line by line.
	Log []string `json:"log,omitempty"`
}

// RolloutEvent is one event of the cluster.
type RolloutEvent struct {
	// Object is the kind and the name of what the event is about: "Pod/web-0".
	Object  string `json:"object"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Count is how often it happened.
	Count int32 `json:"count"`
}
