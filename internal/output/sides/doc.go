// Package sides shows the sides of a finding: what Helm deployed (old), what it would send (desired) and what the server has (live). A
// short value stands in a cell. A text of several lines and a long list stand in their cell as a count, and below it as what differs: hunks
// of a diff, or the items that only one side has. A masked value is never shown.
//
// The golden files of internal/output and the tests of internal/output/text test this package, since only whole reports show what it
// writes.
package sides
