// Package choose reads --only and --skip, which choose from the findings of a comparison. diff, fix and absorb have the same spelling:
//
//	deploy/web                   an object: the kind as kubectl knows it, also short, in the plural, or with its group, and the name
//	spec.replicas                a path as a report writes it, in every object
//	/spec/replicas               the same as a JSON pointer, or as a path of an ignore rule
//	deploy/web:spec.replicas     a path of either form in one object
//
// A path chooses what is below it too. --skip leaves out what it names, and --only leaves out everything else.
//
//	texts ─► Parse ─► Choice ─► In(comparison) ─► Chosen ─┬─► Report: marks in a report what is left out (diff)
//	                                                      ├─► Only, Skip: exact selectors for pkg/repair (fix)
//	                                                      ├─► Field, Object: absorb
//	                                                      └─► Idle: what names nothing, because it is misspelt
//
// [Since] leaves out what was written before a time, for --since. What is left out of a report stays in it, silenced as by an ignore rule.
// What could not be read is never left out.
package choose
