//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// anybody and group are the permission bits that let everybody on the machine write, and the members of a group.
const anybody, group fs.FileMode = 0o002, 0o020

// reasonToDistrust returns why a file that the user did not name must not be used, or "" if it is trusted. The owner of the file and of
// its directory must be the user who runs the program, or root. As in git (CVE-2022-24765; git-compat-util.h
// is_path_owned_by_current_uid), root also trusts the files of the user who called sudo. Nobody else may be able to write the file or to
// replace it. The sticky bit of a directory does not help, because it lets others add a file where there was none.
func reasonToDistrust(path string, env func(string) string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	link, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	file, err := os.Stat(target)
	if err != nil {
		return "", err
	}
	for _, info := range []fs.FileInfo{link, file} {
		if uid, ok := ownerOf(info); ok && !isTrusted(uid, env) {
			return fmt.Sprintf("it belongs to somebody else (user %d)", uid), nil
		}
	}
	if who := writers(file); who != "" {
		return who + " may write to it", nil
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(target)} {
		info, err := os.Stat(dir)
		if err != nil {
			return "", err
		}
		if uid, ok := ownerOf(info); ok && !isTrusted(uid, env) {
			return fmt.Sprintf("%s belongs to somebody else (user %d)", dir, uid), nil
		}
		if who := writers(info); who != "" {
			return who + " may write to " + dir, nil
		}
	}
	return "", nil
}

// writers returns who may write to a file or a directory besides its owner, or "" if nobody may. A group with the owner's name does not
// count: many systems give each user such a group without other members, and let it write.
func writers(info fs.FileInfo) string {
	switch stat, ok := info.Sys().(*syscall.Stat_t); {
	case info.Mode()&anybody != 0:
		return "anybody"
	case info.Mode()&group != 0 && ok && !isPrivate(stat.Uid, stat.Gid):
		return fmt.Sprintf("a group (%d)", stat.Gid)
	}
	return ""
}

// isPrivate reports whether a group has the name of a user.
func isPrivate(uid, gid uint32) bool {
	owner, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return false
	}
	group, err := user.LookupGroupId(strconv.FormatUint(uint64(gid), 10))
	return err == nil && group.Name == owner.Username
}

// ownerOf returns the numeric owner of a file, if the system has one.
func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// isTrusted reports whether a user may decide what this run ignores.
func isTrusted(uid int, env func(string) string) bool {
	me := os.Geteuid()
	if uid == me || uid == 0 {
		return true
	}
	caller, err := strconv.Atoi(env("SUDO_UID"))
	return me == 0 && err == nil && uid == caller
}
