// Package progress writes to a terminal how far a command is, while it runs: Scan is one line for the releases of a scan, Rollout is a
// block of lines for the workloads that a fix waits for, and Activity is one line for everything else that takes longer than a second. All
// of them are written over themselves and leave nothing behind. A caller makes none of them if the output is not a terminal.
package progress
