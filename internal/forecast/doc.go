// Package forecast predicts what the writes of an operation mean for pods, for what reaches them, and for data: which pods restart, how
// many stay ready meanwhile, who keeps an old value, what is lost for good. It reads no cluster.
//
//	objects of the release, before and after their write ──┐
//	    Wants ─► lists to read (pods, volumes) ────────────┤
//	                                                       ▼
//	                                                    Predict
//	    workloads   the pod template before and after ─► how the controller rolls it out (rollout of the kind)
//	    others      what uses a ConfigMap, what a selector matches, what a deletion takes with it
//	 ─► an effect per object, and their sum
//
// [Predict] works with what was read. A list that could not be read makes an effect less exact, and the effect says so.
//
// The package serves both helmdrift diff, for the writes of Helm, and helmdrift fix, for the writes of the plan.
//
// docs/effects.md lists every rule with its source in Kubernetes.
package forecast
