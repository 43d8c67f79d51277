// Package confine runs work on foreign text in a child process of the same program, within hard bounds of time and memory.
//
// Other people write templates, stored manifests and indexes of repositories. Go has no way to stop a goroutine that loops, and no
// way to survive an allocation that the system refuses. A process can be stopped, and can die while its parent goes on. Work on
// such text is therefore a job for a child. Whatever happens to the child, the parent gets an answer or an error:
//
//	parent                                    child: the same executable under another name
//	Run(job, input) ── stdin  ── job, input ───────────► Serve: set the limits, look up the job, do it, maybe wait for another
//	   │ ▲                                                  │
//	   │ └──────────── stdout ── call, question ◄───────────┤  Ask: what the job needs and only the parent may do
//	   └── Calls ───── stdin  ── answer ───────────────────►│
//	answer or error ◄─ stdout ── answer or Fault ◄──────────┘
//
// # Memory
//
// Three mechanisms bound the child's memory:
//
//  1. The garbage collector knows the bound (debug.SetMemoryLimit), so garbage does not count towards it for long.
//  2. A watchdog in the child looks at the heap every few milliseconds and ends the child when the memory in use exceeds the
//     bound. This works on every system and is exact, but it is too slow for one large allocation.
//  3. On Linux the kernel refuses more than the bound and a margin (RLIMIT_DATA), and the Go runtime then ends with a fatal
//     error. RLIMIT_DATA counts writable memory (setrlimit(2), since Linux 4.7); RLIMIT_AS would also count the address space
//     that the Go runtime only reserves. On Linux the child also asks the kernel to end it before any other process if the
//     machine itself runs out of memory.
//
// # Time and life
//
// The parent bounds the time: it kills the child. The child also ends by itself when its time is up, because the parent may be
// stopped, and when its standard input ends, because then the parent is dead. On Linux it dies with its parent in any case. The
// child has a process group of its own, so a signal from the terminal reaches only the parent, which then ends the child. The
// parent waits for every child, so none becomes a zombie.
//
// # Several jobs in one child
//
// Starting a child costs more than most jobs. A [Pool] keeps a child after its job, and the next job goes to it. This changes no result:
//
//   - Each job has the whole limit of time, and the child's memory never exceeds the limit. Time that a job spends waiting for its turn
//     does not count.
//   - A child that exceeds a limit, crashes or is killed is gone, and only its job has the error. If it had done jobs before, a new child
//     does the job again, except if the time is up. So no error depends on what earlier jobs left.
//   - A child with a goroutine that its job left running, or with much memory, gets no other job.
//
// Jobs of a pool must leave nothing in package variables that changes what a later job answers, because a job may come from another chart.
// The jobs of this program do not:
//
//   - Helm's engines make their templates, functions and values anew for each rendering, and templates get no map that outlives it. Of the
//     package variables of Helm and sprig, a rendering changes only the set of the URNs that a log has warned about (helm v3.22.0
//     pkg/chartutil/jsonschema.go warnedURNs, and the same in v4.3.1 pkg/chart/common/util).
//   - Kustomize keeps a schema, which only the field openapi of a kustomization replaces (sigs.k8s.io/kustomize/api v0.21.1
//     krusty/kustomizer.go Run). A HelmRelease has no such field. A working tree may have it, so the job that builds one is in no pool.
//   - The log goes through the known secrets of one job, and is reset after it. Files are in a folder of the job.
//
// The garbage of earlier jobs may have their secrets until it is collected, but a template cannot read memory. A pool lasts as long as one
// command for one cluster.
//
// # Isolation
//
// The child gets its input over its standard input, and nothing on its command line. Its environment is Program.Env, which should contain
// no credentials: requests that need credentials are questions to the parent. The child's stderr goes to Program.Log line by line and
// nowhere else. If the parent has forbidden core files for itself, a crash of the child writes none, because the child inherits that limit.
//
// The program recognises that it is a child by its name, argv[0], which only Run sets. No flag, argument or environment variable
// turns a user's command into a child, and a child refuses to work unless its standard input is a pipe.
//
// Values cross the pipes as encoding/gob, which keeps texts byte for byte. Unexported fields do not cross, so a type that crosses has none.
package confine
