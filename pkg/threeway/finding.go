package threeway

import "github.com/helmdrift/helmdrift/internal/verdict"

// Finding is one field with a verdict, its values in clear. It never leaves the process: Comparison.Report masks it.
type Finding = verdict.Finding
