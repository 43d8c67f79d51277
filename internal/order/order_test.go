package order

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type card struct {
	value, number int
}

func byValue(a, b card) int { return cmp.Compare(a.value, b.value) }

// TestSort compares the result with that of the standard library.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		var cards []card
		for i := range n {
			cards = append(cards, card{value: r.IntN(20), number: i})
		}
		want := slices.Clone(cards)
		slices.SortStableFunc(want, byValue)
		if got := Sorted(slices.Values(cards), byValue); !slices.Equal(got, want) {
			t.Fatalf("%d elements: Sorted returns %v, want %v", n, got, want)
		}
		if Sort(cards, byValue); !slices.Equal(cards, want) {
			t.Fatalf("%d elements: got %v, want %v", n, cards, want)
		}
	}
}

// BenchmarkSort compares the time with that of the standard library.
func BenchmarkSort(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var cards []card
	for i := range 1000 {
		cards = append(cards, card{value: r.IntN(500), number: i})
	}
	for name, sort := range map[string]func([]card){
		"order":  func(s []card) { Sort(s, byValue) },
		"slices": func(s []card) { slices.SortStableFunc(s, byValue) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sort(slices.Clone(cards))
			}
		})
	}
}
