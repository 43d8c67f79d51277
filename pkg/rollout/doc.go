// Package rollout waits until objects are as they should be, and says why they are not.
//
//	refs ─► Wait ─┬─► look: Get ─► judge ──► ready, or how far: updated, ready, unavailable
//	              │     ▲            │ no
//	              │     │            ▼
//	              │     │      Select pods, events ─► evidence ─► diagnose ─► problem ─► Log of the container
//	              │     │                                                      │
//	              │     └── again, until the timeout or an interrupt ◄─────────┤
//	              │                                                            ▼
//	              └──────────────────────────────────────────────► Show, after each look (scrubbed)
//	                                                               │
//	                                                               └─► the last State of each object
//
// In a program that has written objects, with a *live.Cluster:
//
//	states := rollout.Wait(ctx, cluster, refs, rollout.Options{Timeout: time.Minute, Scrub: comparison.Scrub})
//
// # When an object is ready
//
// judge asks kstatus, the library that Helm 4 waits with, about the object as it is in the cluster. Four things are judged differently,
// because kstatus would wait in vain or call a failure a success:
//
//	a paused Deployment           ready, as in Helm 4: nothing rolls out until it is resumed
//	a DaemonSet with OnDelete     ready, although its pods have the earlier template until somebody deletes them
//	a Pod that failed             failed
//	a Job that failed             failed: its pods are not run again
//
// A Job is ready once it has begun, as with helm upgrade --wait.
//
// # Why an object is not ready
//
// diagnose is pure. It gets what was read about one object, its evidence, and returns the problem that says most. Its rules in order:
//
//	a pod's container        cannot be created (ErrImagePull, CreateContainerConfigError …), ends (exit code, OOMKilled), fails a probe
//	a pod without a node     its claim is not bound, or what the scheduler says
//	a pod on a node          the last warning: FailedMount, FailedAttachVolume, FailedCreatePodSandBox …
//	a pod that is missing    FailedCreate: a quota, an admission webhook, a limit range, Pod Security
//	a claim                  the last event about it
//	the object               its conditions: ReplicaFailure, ProgressDeadlineExceeded, Stalled
//	a pod of a StatefulSet   of an earlier revision, which is in the way of the others
//
// Only the pods of the current template count: those of an earlier one may well be broken, which is why the object was written.
//
// # A problem does not end the wait
//
// A container that crashes may succeed the next time, and a quota may be raised. So the wait goes on until the timeout, and each problem is
// shown as soon as it is seen, once: a state in which [State.News] is set has a problem that no earlier state of the object had.
//
// # Few requests
//
// A look comes every two seconds, so a problem is named within five seconds of its first event. It reads each object that is not ready, and
// for those with pods the pods and ReplicaSets. Events and claims are read once for all objects of a namespace. A log is read
// when its container has a new problem or began anew, and at the timeout.
//
// # What the cluster says is foreign
//
// Every text in a [State] went through Options.Scrub as a whole, and was then made one line of bounded length: a secret that is cut in the
// middle would not be found. Of a log more lines are read than shown, since a private key takes many lines. Escaping for a terminal is left
// to whoever prints.
//
// Nothing here writes to a cluster, or knows a client, a flag or a colour.
package rollout
