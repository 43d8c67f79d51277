// Package reads finds which values each template of a chart may read. It follows the context in the parse tree through variables, with,
// range, include and template, dictionaries and the functions that pass values on. The result is a guide for a search, not a proof: a
// template that computes the names of what it reads may read more.
//
//	templates ─► Of ─► for each template: the values that it may read, and the files that it needs to render
//
// The tests beside this file have a line for each way to read a value. TestCases of internal/absorb shows that the search finds a value by
// what this package says of whole charts.
package reads
