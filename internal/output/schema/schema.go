// Package schema holds the JSON Schema of the report, the published half of the contract whose Go half is
// threeway.Report. It imports nothing of ours, so that tests of any package may validate what they make.
//
// Within one apiVersion keys are only ever added. The schema allows unknown keys for that reason: a report of a newer
// helmdrift validates against the schema of an older one. It does hold what readers rely on: which keys are always there,
// that a side without the field lacks the key instead of being null, and that a masked finding carries no value.
package schema

import _ "embed"

// ID is the identifier that the schema gives itself.
const ID = "urn:helmdrift:report:v1"

//go:embed report.schema.json
var report string

// Report returns the JSON Schema (draft 2020-12) of all documents that helmdrift writes as JSON or YAML.
func Report() string { return report }
