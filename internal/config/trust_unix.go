//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// anybody is the permission bit that lets everybody on the machine write.
const anybody fs.FileMode = 0o002

// reasonToDistrust returns why a file that was found, and not named by the user, must not be used. It is empty if the file is trusted. The
// owner must be the user who runs the program, or root. As in git (CVE-2022-24765; git-compat-util.h is_path_owned_by_current_uid), root
// also trusts the files of the user who called sudo. Nobody else may be able to write the file or to replace it. The sticky bit of a
// directory does not help, because it lets everybody add a file where there was none.
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
	if file.Mode()&anybody != 0 {
		return "anybody may write to it", nil
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(target)} {
		info, err := os.Stat(dir)
		if err != nil {
			return "", err
		}
		if info.Mode()&anybody != 0 {
			return "anybody may write to " + dir, nil
		}
	}
	return "", nil
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
