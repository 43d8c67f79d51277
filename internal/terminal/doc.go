// Package terminal finds out what a terminal can show, and uses it: colour, the width of a line, characters beyond ASCII, links, a pager,
// and a question.
//
//	             environment ─┐
//	                          ▼
//	streams ─► IsTerminal ─► Colored, Width, Unicode   how a report looks (internal/cli makes options of it)
//	                      ─► Page                      a report that is longer than the screen
//	                      ─► File                      the name of a file in a message, as a link
//	                      ─► CanAsk, ReadYes, ReadWord a question before something is written
//
// Without a terminal, everything has a plain form: no colour, no limit of width, no link, no pager, and no question. So a program that
// reads the output gets the same bytes on every machine.
//
// Package main passes the environment as a function. The package reads NO_COLOR, FORCE_COLOR, CLICOLOR, TERM, the locale and the
// variables that terminals set; docs/environment.md lists them.
package terminal
