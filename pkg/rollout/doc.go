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
// A program that has written objects, with a *live.Cluster, uses it like this:
//
//	states := rollout.Wait(ctx, lists.Pods{Cluster: cluster}, refs, rollout.Options{Timeout: time.Minute, Scrub: comparison.Scrub})
//
// # When an object is ready
//
// judge asks kstatus, the library that Helm 4 waits with, about the object as it is in the cluster. It judges five cases itself,
// because kstatus would wait in vain or call a failure a success:
//
//	a paused Deployment           ready, as in Helm 4: nothing rolls out until it is resumed
//	a DaemonSet with OnDelete     ready, although its pods have the earlier template until somebody deletes them
//	a Pod that failed             failed
//	a Job that failed             failed: its pods are not run again
//	a ReplicationController       ready when a ReplicaSet would be: kstatus has no rule for it, and calls it ready at once
//
// A Job is ready once it has begun, as with helm upgrade --wait.
//
// The wait ends when all objects are ready at the same look. An object that is ready is not read again until the others are ready too:
// then all that were ready at an earlier look are read once more, and the wait goes on for those that are ready no longer.
//
// # Why an object is not ready
//
// diagnose reads nothing itself. From the evidence about one object, it returns the problem that explains most. Its rules in order:
//
//	a pod's container        cannot be created (ErrImagePull, CreateContainerConfigError …), ends (exit code, OOMKilled), fails a probe
//	a pod without a node     its claim is not bound, or what the scheduler says
//	a pod on a node          the last warning: FailedMount, FailedAttachVolume, FailedCreatePodSandBox …
//	a pod that is missing    FailedCreate: a quota, an admission webhook, a limit range, Pod Security
//	a claim                  the last event about it
//	the object               its conditions: ReplicaFailure, ProgressDeadlineExceeded, Stalled
//	a pod of a StatefulSet   of an earlier revision, which is in the way of the others
//
// Only the pods of the current template count. The pods of an earlier template may be broken; that may be why the object was written.
//
// # A problem does not end the wait
//
// A container that crashes may succeed the next time, and a quota may be raised. So the wait goes on until the timeout, and each problem
// is shown once, as soon as it is seen: [State.News] marks a state with a problem that no earlier state of the object had.
//
// # Few requests
//
// Wait looks every two seconds, so it names a problem within five seconds of its first event. A look reads each object that is not ready,
// and the pods and ReplicaSets of an object that has pods. It reads events and claims once for all objects of a namespace, and a log when
// its container has a new problem or restarted, and at the timeout.
//
// # What the cluster says is foreign
//
// Wait passes every text in a [State] through Options.Scrub as a whole, and only then makes it one line of bounded length: Scrub would not
// find a secret that is cut in the middle. It reads more lines of a log than it shows, since a private key takes many lines. The caller
// escapes the texts for a terminal.
//
// This package writes nothing to a cluster, and knows no client, flag or colour.
package rollout
