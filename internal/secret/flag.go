package secret

import (
	"path"
	"slices"
	"strings"
)

// flags finds the secrets of a command line that stands in a text.
func flags(text string) []span {
	if !strings.Contains(text, "-") {
		return nil
	}
	var words []span
	var args []string
	separates := func(c byte) bool { return strings.IndexByte(" \t\r\n\"'`,[]", c) >= 0 }
	for at := 0; at < len(text); {
		at += endOf(text[at:], separates)
		to := at + endOf(text[at:], func(c byte) bool { return !separates(c) })
		if at < to {
			words, args = append(words, span{at, to}), append(args, text[at:to])
		}
		at = to
	}
	var out []span
	for i, offset := range argOffsets(args, true) {
		if offset >= 0 {
			out = append(out, span{words[i].from + offset, words[i].to})
		}
	}
	return out
}

// secretArgs are the secrets among the arguments of a command.
func secretArgs(args []string) (out []string) {
	for i, offset := range argOffsets(args, false) {
		if offset >= 0 {
			out = append(out, args[i][offset:])
		}
	}
	return out
}

// argOffsets says of each argument where in it a secret begins; -1 where there is none. What a long flag announces may be a word of a
// sentence in a text, and never is in a list.
func argOffsets(args []string, inText bool) []int {
	out := make([]int, len(args))
	command := ""
	for i := range out {
		out[i] = -1
	}
	for i, arg := range args {
		if program := programs()[path.Base(arg)]; program != "" {
			command = program
		}
		next := i + 1
		switch at := joinedPassword(args, command, i); {
		case at > 0:
			out[i] = at
		case next == len(args) || !isValue(args[next], inText):
		case announcesNext(arg, command):
			out[next] = 0
		case command == "curl" && (arg == "-u" || arg == "--user" || arg == "--proxy-user"):
			if user, _, found := strings.Cut(args[next], ":"); found {
				out[next] = len(user) + 1
			}
		}
	}
	return out
}

// isValue reports whether an argument can be the value of the flag before it.
func isValue(arg string, inText bool) bool {
	return !strings.HasPrefix(arg, "-") && !isHarmless(arg) && !(inText && prose()[strings.ToLower(strings.Trim(arg, ".,:;"))])
}

// programs are commands whose short flags carry a password, by family.
func programs() map[string]string {
	return map[string]string{
		"mysql": "mysql", "mysqladmin": "mysql", "mysqldump": "mysql", "mysqlcheck": "mysql", "mysqlimport": "mysql", "mysqlsh": "mysql",
		"mariadb": "mysql", "mariadb-admin": "mysql", "mariadb-dump": "mysql", "redis-cli": "redis", "valkey-cli": "redis", "keydb-cli": "redis", "sshpass": "password",
		"mongo": "password", "mongosh": "password", "mongodump": "password", "curl": "curl", "wget": "curl", "sqlcmd": "sqlcmd",
	}
}

// announcesNext reports whether the next argument is secret because of this one.
func announcesNext(arg, command string) bool {
	switch {
	case !strings.HasPrefix(arg, "-") || strings.Contains(arg, "="):
		return false
	case Name(strings.TrimLeft(arg, "-")):
		return true
	}
	return command == "redis" && arg == "-a" || command == "password" && arg == "-p" || command == "sqlcmd" && arg == "-P"
}

// joinedPassword is where the password begins in -pPASSWORD, as the clients of MySQL and sshpass take it; 0 where it is none.
// Other programs have ports and words there: it is one where the program or -uUSER beside it says so, or by its looks.
func joinedPassword(args []string, command string, i int) int {
	password, ok := strings.CutPrefix(args[i], "-p")
	if !ok || password == "" || strings.HasPrefix(password, "=") || isHarmless(password) {
		return 0
	}
	digits := strings.Trim(password, "0123456789:./") == ""
	isUser := func(arg string) bool { return len(arg) > 2 && strings.HasPrefix(arg, "-u") && !flagWords()[arg[1:]] }
	known := command == "mysql" || command == "password" ||
		command == "" && !digits && !flagWords()[args[i][1:]] && slices.ContainsFunc(args, isUser)
	looks := !digits && !isWord(password) && !strings.ContainsAny(password, "=:/")
	if known || looks {
		return len("-p")
	}
	return 0
}

// flagWords are flags with one dash that are words, as programs in Go have them.
var flagWords = set(`
	url urls user username uid ui update upload unix unsafe upstream until
	port path prefix profile proxy password pass plugin plugins print pretty pid private provider period parallel policy protocol publish
	project pool poll pull push preserve progress pprof ping params parent patch pattern payload peer peers
`)

// isWord reports whether a text is made of small letters and dashes, as names of flags are.
func isWord(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz-") == ""
}
