// Package layout writes lines of text for people. The lines are as wide as the terminal, have only signs and colours that it can show, and
// have every foreign text escaped. The texts of reports, of absorb and of histories are written with it.
//
//	Style    signs and colours: values and names of objects on one line
//	Text     lines that collect in a buffer: Line, Prose, Headline, Continuation, Blocks
//	Column   a table with a line for each thing, whose columns give way on a narrow terminal
//	Clauses  what is counted in a sentence
//	NoDrift  the answer for releases where nothing new drifted, for every format
//
// # Tests
//
// The golden files of internal/output test lines, columns and widths: they have the same reports at several widths (TestGolden).
package layout
