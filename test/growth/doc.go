// Package growth has the test of how the work on foreign text grows: twice the text may take twice the work, and no more. The functions
// that take a text are found by their type.
//
//	exported functions of internal and pkg with one text ─► called with hostile texts of two sizes ─► bytes and objects allocated,
//	every output format, every format of documents       ─►                                           and steps
//
// A step is a run through statements of this module that have no branch; the counters of coverage count it. Only make growth counts steps.
// A call of another module or of the standard library is no step, however long it takes.
//
// The finders of internal/secret count their steps; TestFindersAreLinear there is the same for them.
package growth
