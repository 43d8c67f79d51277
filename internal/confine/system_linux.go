package confine

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// executable returns this executable, even if its file was replaced or removed meanwhile.
func executable() (string, error) { return "/proc/self/exe", nil }

// childAttributes puts a child into a process group of its own, and lets the kernel kill it when the parent dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// margin returns how much more memory than the bound the kernel allows a child: a quarter, because the garbage collector lags behind, and
// what the runtime itself needs. The watchdog enforces the bound; the kernel stops what is too fast for the watchdog.
func margin(most int64) int64 { return most/4 + 64<<20 }

// limitData makes the kernel refuse memory beyond what this process already holds, the bound and the margin.
// If the kernel does not support that, only the watchdog is left.
func limitData(most int64) {
	// Every process may raise its own score.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	held, err := heldData()
	var now syscall.Rlimit
	if err != nil || syscall.Getrlimit(syscall.RLIMIT_DATA, &now) != nil {
		return
	}
	wanted := uint64(held + most + margin(most))
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: min(wanted, now.Max), Max: min(wanted, now.Max)})
}

// heldData returns how much memory counts for RLIMIT_DATA now: the sixth field of /proc/self/statm, in pages (proc_pid_statm(5)).
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
