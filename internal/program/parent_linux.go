package program

import "syscall"

// endsWithParent lets the kernel kill a program when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG). command.run keeps that
// thread while the program runs.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
