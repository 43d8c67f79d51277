// Package confine runs work on foreign text in a child process of the same program, under a hard bound of time and memory.
//
// A template, a stored manifest and the index of a repository are written by others. Go offers no way to stop a goroutine that
// loops, and no way to survive an allocation that the system refuses. A process can be stopped and can die, and its parent goes
// on. So such work is a job that runs in a child, and whatever becomes of the child, the parent gets an answer or an error:
//
//	parent                                    child: the same executable under another name
//	Run(job, input) ── stdin  ── job, input ───────────► Serve: bound yourself, look up the job, do it
//	   │ ▲                                                  │
//	   │ └──────────── stdout ── call, question ◄───────────┤  Ask: what the job needs and only the parent may do
//	   └── Calls ───── stdin  ── answer ───────────────────►│
//	answer or error ◄─ stdout ── answer or Fault ◄──────────┘
//
// Three things bound the child's memory:
//
//  1. The garbage collector knows the bound (debug.SetMemoryLimit), so garbage does not count towards it for long.
//  2. A watchdog in the child looks at the heap every few milliseconds. Once what is in use is more than the bound, it ends
//     the child. This works on every system, and it is exact, but it comes too late for one large allocation.
//  3. On Linux the kernel refuses the child more than the bound and a margin (RLIMIT_DATA). The Go runtime then gives up with
//     a fatal error. RLIMIT_DATA counts memory that can be written to (setrlimit(2), since Linux 4.7); RLIMIT_AS would also
//     count the address space that the Go runtime only reserves. On Linux the child also asks the kernel to end it before
//     any other process where the machine itself runs short.
//
// The parent bounds the time: it kills the child. The child ends by itself as well: when its time is up (the parent may be
// stopped), and when its standard input ends (the parent is dead). On Linux it dies with its parent in any case. It is in a
// process group of its own, so that a signal from the terminal reaches the parent alone, which then ends the child. The
// parent waits for every child, so none is left as a zombie.
//
// The child gets what it needs over its standard input. Nothing is on its command line. Its environment is what Program.Env
// says, and a caller should leave credentials out of that: requests that need credentials are questions to the parent. What
// the child writes to stderr goes to Program.Log line by line and nowhere else. A crash writes no core file as long as the
// parent forbade that for itself, because the limit is inherited.
//
// A child is recognised by its name, argv[0], which only Run sets. No flag, argument or variable of the environment turns a
// command of a user into a child, and a child whose standard input is no pipe refuses to work.
//
// Values cross the pipes as encoding/gob, which keeps texts byte for byte. Fields that are not exported do not cross, so a type that
// crosses has none.
package confine
