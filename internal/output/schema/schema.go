// Package schema holds the JSON Schema of the report. It is the published half of the contract; package report is the Go half. The package
// imports no package of this module, so that the tests of any package may validate the reports that they make.
//
// Within one apiVersion keys are only added. So the schema allows unknown keys, and a report of a newer helmdrift validates against the
// schema of an older one. The schema does require what readers rely on: which keys are always there, that a side without the field lacks
// the key instead of being null, and that a masked finding has no value.
package schema

import _ "embed"

// ID is the identifier of the schema.
const ID = "urn:helmdrift:report:v1"

//go:embed report.schema.json
var report string

// Report returns the JSON Schema (draft 2020-12) of all documents that helmdrift writes as JSON or YAML.
func Report() string { return report }
