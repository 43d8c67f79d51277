// Package reporttest lets any test check a report against the published contract:
//
//	reporttest.ValidateReport(t, stdout)
//
// It imports only the JSON Schema, so the tests of any package may use it.
package reporttest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/helmdrift/helmdrift/internal/output/schema"
)

// ValidateReport fails the test if doc is not a JSON document of the contract, and says what is wrong with it.
func ValidateReport(t testing.TB, doc []byte) {
	t.Helper()
	if err := Check(doc); err != nil {
		t.Errorf("not a report: %v\n%s", err, doc)
	}
}

// Check returns an error if doc is not a JSON document of the contract.
func Check(doc []byte) error {
	compiled, err := compile()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	return compiled.Validate(value)
}

// compile compiles the schema once, because the tests of comparisons check thousands of reports.
var compile = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema.Report()))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat() // date-time is a promise, not a comment
	if err := c.AddResource(schema.ID, doc); err != nil {
		return nil, fmt.Errorf("add schema: %w", err)
	}
	return c.Compile(schema.ID)
})
