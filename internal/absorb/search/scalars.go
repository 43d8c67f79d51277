package search

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxDecimals is how many digits a quantity may have after the point. People write half a gibibyte, but not a third of one.
const maxDecimals = 3

// inUnit returns a quantity as a number of units, such as 1024 for 1Gi in Mi and 1500 for 1.5 in m. It returns false if the text is not a
// quantity, or is a long fraction of the unit.
func inUnit(quantity, unit string) (string, bool) {
	// A text without a unit is more likely a number or a name than a quantity, and was already tried unchanged.
	if unit == "" {
		return "", false
	}
	all, ok := ratOf(quantity)
	one, ok2 := ratOf("1" + unit)
	if !ok || !ok2 {
		return "", false
	}
	number := new(big.Rat).Quo(all, one)
	digits, exact := number.FloatPrec()
	if !exact || digits > maxDecimals {
		return "", false
	}
	return number.FloatString(digits), true
}

// ratOf returns a quantity as a number, or false if the text is not a quantity.
func ratOf(text string) (*big.Rat, bool) {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return nil, false
	}
	return new(big.Rat).SetString(quantity.AsDec().String())
}

// textOf returns a scalar as templates print it.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		if v == float64(int64(v)) {
			return fmt.Sprint(int64(v))
		}
	}
	return fmt.Sprint(v)
}

// spellings returns a scalar in the types that a value may have. The type of the value that it replaces comes first.
// Charts use "8080" and 8080 for the same purpose, and the templates can take the type that values.yaml has.
func spellings(v, like any) []any {
	text := textOf(v)
	switch like.(type) {
	case string:
		return []any{text}
	case bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return []any{b}
		}
		return nil // a template that tests a switch may fail on a text
	case float64, int64, int, json.Number:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			if textOf(n) == text {
				return []any{n}
			}
			// Parsing loses the text of a number such as 1.20, and rounds a long one. Files have such versions without quotes.
			return []any{n, text}
		}
	}
	if !isText(v) && like == nil {
		return []any{v, text}
	}
	return []any{v}
}

// spelling returns a text in the type of a value, if possible: a part that is cut out of a text may be a number in values.yaml.
func spelling(text string, like any) any {
	if all := spellings(text, like); len(all) > 0 {
		return all[0]
	}
	return text
}

// isText reports whether a scalar is a text. Two other scalars that templates print in the same way are the same.
func isText(v any) bool {
	_, ok := v.(string)
	return ok
}
