package absorb

import (
	"math/big"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxDecimals is how many digits a quantity may have behind the point. People write half a gibibyte, but no third of one.
const maxDecimals = 3

// inUnit returns a quantity as a number of a unit, such as 1024 for 1Gi in Mi and 1500 for 1.5 in m; false if it is none, or a long fraction
// of the unit.
func inUnit(quantity, unit string) (string, bool) {
	// A text without a unit is rather a number or a name than a quantity, and was tried as it is.
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

// ratOf returns a quantity as a number; false if the text is none.
func ratOf(text string) (*big.Rat, bool) {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return nil, false
	}
	return new(big.Rat).SetString(quantity.AsDec().String())
}
