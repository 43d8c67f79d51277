package terminal

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
)

// File returns the name of a file as a message shows it: escaped, and a link (OSC 8) if stderr is a terminal that shows links. Reports have
// no links: what they name is in a cluster or a chart, and has no address.
func (s Streams) File(name string) string {
	shown := escape.Text(name, !s.Unicode())
	path, err := filepath.Abs(name)
	if err != nil || !IsTerminal(s.Err) || !s.showsLinks() {
		return shown
	}
	// An address has no byte that ends the sequence: url escapes control characters and everything beyond ASCII.
	address := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}
	const begin, end = "\x1b]8;;", "\x1b\\"
	return begin + address.String() + end + shown + begin + end
}

// showsLinks reports whether the terminal is known to show links, by the variables that it sets. FORCE_HYPERLINK decides where no other
// variable speaks against links: a CI system, a multiplexer that may drop them, or a terminal on another machine, which has other files.
func (s Streams) showsLinks() bool {
	terminal := s.Env("TERM")
	switch {
	case s.Env("CI") != "", s.Env("SSH_CONNECTION") != "", terminal == "dumb", s.Env("TMUX") != "", strings.HasPrefix(terminal, "screen"):
		return false
	case s.Env("FORCE_HYPERLINK") != "":
		return s.Env("FORCE_HYPERLINK") != "0"
	case s.Env("WT_SESSION") != "", s.Env("KITTY_WINDOW_ID") != "",
		slices.Contains([]string{"xterm-kitty", "alacritty", "xterm-ghostty"}, terminal):
		return true
	}
	// VTE 0.50.0 has links and crashes on some.
	if vte, err := strconv.Atoi(s.Env("VTE_VERSION")); err == nil {
		return vte > 5000
	}
	return slices.Contains([]string{"iTerm.app", "WezTerm", "vscode", "ghostty", "rio"}, s.Env("TERM_PROGRAM"))
}
