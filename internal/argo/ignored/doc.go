// Package ignored removes from objects what Argo CD ignores of them: the places of jsonPointers, and those that jqPathExpressions select.
// It is a part of the guest internal/argo.
//
//	Order: all expressions, and the desired and the live text of objects with the steps that are about them
//	  ├─► compile each expression: Answer.Broken
//	  └─► each step on each text, in their order ─► Answer.Objects: the texts that Argo CD compares
//
// It makes the library calls of argo-cd v3.6.1 util/argo/normalizers/diff_normalizer.go in their order, with gojq in the version that Argo
// CD links: an expression EXPR is the program del(EXPR). A step that fails on an object changes nothing there, since a place that is not
// there cannot be removed. The same holds for a program with several results, or with none.
//
// # An expression is foreign code
//
// It can loop and fill the memory. gojq stops a program when its time is over, except within one of its functions, so a caller runs an
// order with expressions in a child process within limits of time and memory. Programs get no environment, no input, no variables and no
// modules. They can read the clock.
package ignored
