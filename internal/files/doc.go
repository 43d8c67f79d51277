// Package files reads files that others may have written, and writes files so that an error leaves no half-written file. Replace also
// survives a crash: the file has the old content or all of the new one. Append, and Update of a pipe, write in place.
//
//	Replace    a new content for a file: in a temporary file beside it ─► on the disk ─► renamed over it
//	Update     the same within the umask, and a pipe or a device is written as it is
//	Append     adds to the end of a file that others add to as well
//	CreateAll  new files that must not exist: all of them, or none
//	Name       a file name for something whose name file systems may refuse
//	Open, Read the content of a regular file, up to a limit: no pipe that waits, no device without an end
//	CheckLinks a symbolic link must not lead out of the Git working tree that it is in; see Tree
//
// The package knows nothing of what it reads and writes. Its errors are those of package os, which name the file.
package files
