package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/rogpeppe/go-internal/testscript"
)

// onTerminal runs a program on a pseudo-terminal: terminal COLUMNS ANSWER COMMAND ARG..., where the answer may be ^D, or several answers
// with commas between them. The final content
// of the terminal goes to stdout of the script, with the exit code in the last line, and everything that was written goes to stderr.
// Scripts use it after [linux].
func onTerminal(ts *testscript.TestScript, _ bool, args []string) {
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	master, slave, err := openTerminal(uint16(columns))
	ts.Check(err)
	defer master.Close()
	path, err := lookIn(ts.Getenv("PATH"), args[2])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = slave, slave, slave, ts.MkAbs(".")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // it is the controlling terminal, as for a user
	for _, name := range []string{"PATH", "HOME", "KUBECONFIG", "TERM", "LANG", "HELMDRIFT_PAGER", "PAGER", "FORCE_HYPERLINK", "HELM_PLUGINS"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(cmd.Start())
	ts.Check(slave.Close())
	answers := strings.ReplaceAll(strings.ReplaceAll(args[1], ",", "\n")+"\n", "^D\n", "\x04")
	_, err = io.WriteString(master, answers)
	ts.Check(err)
	seen, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) { // how the end of a terminal reads on Linux
		ts.Check(err)
	}
	_ = cmd.Wait()
	raw := strings.ReplaceAll(string(seen), "\r\n", "\n")
	fmt.Fprint(ts.Stderr(), raw)
	fmt.Fprintf(ts.Stdout(), "%s\ncode %d\n", overwritten.ReplaceAllString(raw, ""), cmd.ProcessState.ExitCode())
}

// overwritten matches the content of a line before it is overwritten.
var overwritten = regexp.MustCompile(`(?m)^.*\r`)

// openTerminal makes a pseudo-terminal of so many columns.
func openTerminal(columns uint16) (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	var unlock, number int32
	size := [4]uint16{24, columns}
	for _, request := range []struct {
		name uintptr
		arg  unsafe.Pointer
	}{{syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)}, {syscall.TIOCGPTN, unsafe.Pointer(&number)}, {syscall.TIOCSWINSZ, unsafe.Pointer(&size)}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request.name, uintptr(request.arg)); errno != 0 {
			return nil, nil, errno
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	return master, slave, err
}

func lookIn(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); filepath.IsAbs(file) {
			if _, err := os.Stat(file); err == nil {
				return file, nil
			}
		}
	}
	return "", os.ErrNotExist
}
