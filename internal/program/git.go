package program

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// Archive returns the files of a commit in the working tree of Git at root as a tar archive of at most limit bytes. It runs the user's git,
// which reads no file of the working tree and runs no hook for that.
func Archive(ctx context.Context, root, commit string, limit int64) ([]byte, error) {
	if strings.HasPrefix(commit, "-") {
		return nil, fmt.Errorf("%s is not a commit", commit)
	}
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, hint.New(errors.New("git was not found"), "it reads the commit; install it, or leave out the commit")
	}
	c := command{
		name: "git archive", path: path, output: limit, messages: 2 * maxComplaint,
		args: []string{
			"-C", root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "archive", "--format=tar", commit + "^{commit}",
		},
		env: []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"},
	}
	out, messages, err := c.run(ctx)
	return out, withComplaint(err, "\n", messages.said())
}

// CommitOf returns the commit that an archive of git holds, or "" if it does not say. git archive writes it into a global header.
func CommitOf(archive []byte) string {
	header, err := tar.NewReader(bytes.NewReader(archive)).Next()
	if err != nil || header.Typeflag != tar.TypeXGlobalHeader {
		return ""
	}
	return header.PAXRecords["comment"]
}
