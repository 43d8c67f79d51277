package secret

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// flags finds the secrets of a command line within a text.
func flags(s *scan) []span {
	if s.index(0, "-") < 0 {
		return nil
	}
	var words []span
	var args []string
	// The words of the text are its arguments.
	for at := 0; at < len(s.text); at++ {
		if to := s.end(inArgument, at); at < to {
			words, args = append(words, span{at, to}), append(args, s.text[at:to])
			at = to
		}
	}
	s.spend(argumentWork * len(s.text))
	var out []span
	for i, offset := range argOffsets(args, true) {
		if offset >= 0 {
			out = append(out, span{words[i].from + offset, words[i].to})
		}
	}
	return out
}

// argumentWork is how often argOffsets reads each byte, at most.
const argumentWork = 16

// argOffsets returns, for each argument, the offset of a secret in it, or -1. In a text, the word after a long flag
// may be part of a sentence; in a list of arguments it never is.
func argOffsets(args []string, inText bool) []int {
	out := slices.Repeat([]int{-1}, len(args))
	command := ""
	hasUser := sync.OnceValue(func() bool { return slices.ContainsFunc(args, isUserFlag) })
	for i, arg := range args {
		if program := programs()[path.Base(arg)]; program != "" {
			command = program
		} else if slices.Contains([]string{"&&", "||", "|", ";"}, arg) {
			command = "" // another command follows
		}
		next := i + 1
		switch at := max(joinedPassword(arg, command, hasUser), joinedLogin(arg, command)); {
		case at > 0:
			out[i] = at
		case next == len(args) || !mayBeValue(args[next], inText):
		case announcesNext(arg, command):
			out[next] = 0
		case command == "curl" && isLoginFlag(arg):
			if user, _, found := strings.Cut(args[next], ":"); found {
				out[next] = len(user) + 1
			}
		}
	}
	return out
}

// mayBeValue reports whether an argument may be the value of the flag before it.
func mayBeValue(arg string, inText bool) bool {
	return !strings.HasPrefix(arg, "-") && !isHarmless(arg) && !(inText && prose()[strings.ToLower(strings.Trim(arg, ".,:;"))])
}

// programs maps commands whose short flags take a password to their family.
var programs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"mysql": "mysql", "mysqladmin": "mysql", "mysqldump": "mysql", "mysqlcheck": "mysql", "mysqlimport": "mysql", "mysqlsh": "mysql",
		"mariadb": "mysql", "mariadb-admin": "mysql", "mariadb-dump": "mysql",
		"redis-cli": "redis", "valkey-cli": "redis", "keydb-cli": "redis",
		"sshpass": "password", "mongo": "password", "mongosh": "password", "mongodump": "password",
		"curl": "curl", "wget": "curl", "sqlcmd": "sqlcmd",
	}
})

// announcesNext reports whether an argument announces that the next one is secret.
func announcesNext(arg, command string) bool {
	switch {
	case !strings.HasPrefix(arg, "-") || strings.Contains(arg, "="):
		return false
	case Name(strings.TrimLeft(arg, "-")):
		return true
	}
	return command == "redis" && arg == "-a" || command == "password" && arg == "-p" || command == "sqlcmd" && arg == "-P"
}

// joinedPassword returns the offset of the password in -pPASSWORD, a form that the clients of MySQL and sshpass
// accept, or 0. Other programs have ports and words after -p. So the argument counts as a password only if the
// program is known, if -uUSER is beside it, or if the value looks like a password.
func joinedPassword(arg, command string, hasUser func() bool) int {
	password, ok := strings.CutPrefix(arg, "-p")
	if !ok || password == "" || strings.HasPrefix(password, "=") || isHarmless(password) {
		return 0
	}
	// Digits after -p are usually a port, and a flag with "=", ":" or "/" has another kind of value.
	digits := strings.Trim(password, "0123456789:./") == ""
	known := command == "mysql" || command == "password" || command == "" && !digits && !flagWords()[arg[1:]] && hasUser()
	word := strings.Trim(password, "abcdefghijklmnopqrstuvwxyz-") == "" // such as the name of a flag
	looks := !digits && !word && !strings.ContainsAny(password, "=:/")
	if known || looks {
		return len("-p")
	}
	return 0
}

// isLoginFlag reports whether a user and a password follow an argument of curl: -u, --user, or short flags that end in u (-sSu).
func isLoginFlag(arg string) bool {
	isShort := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--")
	return arg == "--user" || arg == "--proxy-user" || isShort && (strings.HasSuffix(arg, "u") || strings.HasSuffix(arg, "U")) && len(arg) < 8
}

// joinedLogin returns the offset of the password in --user=USER:PASSWORD, or in -uUSER:PASSWORD of curl; 0 if there is none. Docker has
// numbers there: a user and a group.
func joinedLogin(arg, command string) int {
	flag, login, found := strings.Cut(arg, "=")
	isFlag := found && (flag == "--user" || flag == "--proxy-user" || flag == "--login")
	if short := strings.HasPrefix(arg, "-u") || strings.HasPrefix(arg, "-U"); command == "curl" && short && len(arg) > 2 {
		login, isFlag = arg[2:], true
	}
	user, password, found := strings.Cut(login, ":")
	isNumber := strings.Trim(password, "0123456789") == "" && command != "curl"
	if !isFlag || !found || isNumber || isHarmless(password) || strings.HasPrefix(password, "//") {
		return 0
	}
	return len(arg) - len(login) + len(user) + 1
}

// isUserFlag reports whether an argument is -uUSER.
func isUserFlag(arg string) bool {
	return len(arg) > 2 && strings.HasPrefix(arg, "-u") && !flagWords()[arg[1:]]
}

// flagWords are words that programs written in Go accept after one dash.
var flagWords = set(`
	url urls user username uid ui update upload unix unsafe upstream until
	port path prefix profile proxy password pass plugin plugins print pretty pid private provider period parallel policy protocol publish
	project pool poll pull push preserve progress pprof ping params parent patch pattern payload peer peers
`)
