package program

import (
	"archive/tar"
	"bytes"
)

// CommitOf returns the commit that an archive of git holds, or "" if it does not say. git archive writes it into a global header.
func CommitOf(archive []byte) string {
	header, err := tar.NewReader(bytes.NewReader(archive)).Next()
	if err != nil || header.Typeflag != tar.TypeXGlobalHeader {
		return ""
	}
	return header.PAXRecords["comment"]
}
