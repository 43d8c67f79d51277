package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// canAsk reports whether a question can be asked on stderr and answered on stdin: both are terminals.
func (s streams) canAsk() bool { return isTerminal(s.in) && isTerminal(s.err) }

// yes reads the answer to a question. Anything but y or yes is a no, and so is the end of the input. An interrupt need not wait
// for the answer; the reader that it leaves behind ends with the process.
func (s streams) yes(ctx context.Context) (bool, error) {
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(s.in, 1<<10)).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(s.err)
		}
		word := strings.ToLower(strings.TrimSpace(line))
		return word == "y" || word == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(s.err)
		return false, errors.New("interrupted; nothing was written")
	}
}
