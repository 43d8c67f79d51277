package confine

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// self is this executable, also where its file was replaced or removed meanwhile.
func self() (string, error) { return "/proc/self/exe", nil }

// apart puts a child into a process group of its own, and lets the kernel kill it when the parent dies.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// margin is how much more than its bound a child gets from the kernel: a quarter, because the garbage collector runs behind, and what
// the runtime needs for itself. The watchdog holds the bound; the kernel stops what is too fast for the watchdog.
func margin(most int64) int64 { return most/4 + 64<<20 }

// limitData has the kernel refuse more than most, and the margin, on top of what this process holds already. A kernel that
// does not know how leaves the work to the watchdog.
func limitData(most int64) {
	// Raising one's own score is allowed to everybody.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	held, err := heldData()
	if err != nil {
		return
	}
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &now) != nil {
		return
	}
	wanted := uint64(held + most + margin(most))
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: min(wanted, now.Max), Max: min(wanted, now.Max)})
}

// heldData is what counts for RLIMIT_DATA now: the sixth field of /proc/self/statm, in pages (proc_pid_statm(5)).
func heldData() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 6 {
		return 0, strconv.ErrSyntax
	}
	pages, err := strconv.ParseInt(fields[5], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
