package kinds

import (
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestQuantities checks that ParseQuantity returns the same quantity as the JSON methods of the type.
func TestQuantities(t *testing.T) {
	for _, number := range []string{"", "0", "00", "1", "007", "100", "1000", "1024", "0.5", ".5", "5.", "1.0005", "-3", "+3", "--3", "9223372036854775807", "92233720368547758070"} {
		for _, suffix := range []string{"", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "E", "Ei", "e3", "E3", "e-3", "e", "i", "mm", " ", "\n", "<", "K", "x"} {
			text := number + suffix
			got, ok := canonicalQuantity(text)
			want, wanted := roundTrip(reflect.TypeFor[resource.Quantity](), text)
			if ok != wanted || ok && !object.Equal(got, want) {
				t.Errorf("%q is %v %v, not %v %v", text, got, ok, want, wanted)
			}
		}
	}
	if _, ok := canonicalQuantity(fmt.Sprint("1e", 1<<40)); ok {
		t.Error("a huge exponent is decoded")
	}
}
