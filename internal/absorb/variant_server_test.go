package absorb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helmdrift/helmdrift/internal/absorb/vary"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// fragile returns a server of variants that ends at each variant "die", hangs at "hang" until it is stopped, and ends at "tired" unless it
// is new. It counts its starts.
func fragile(starts *int) serveVariants {
	return func(ctx context.Context, _ drift.ChartRequest, next NextVariants) error {
		*starts++
		answer := VariantAnswer{First: &FirstVariant{}}
		for used := false; ; used = true {
			order, err := next(ctx, answer)
			if err != nil || order.Done {
				return err
			}
			answer = VariantAnswer{}
			for _, v := range order.Variants {
				switch text := string(v.Values); {
				case text == "die", text == "tired" && used:
					return errors.New("no memory")
				case text == "hang":
					<-ctx.Done()
					return context.Cause(ctx)
				}
				answer.Renderings = append(answer.Renderings, vary.Rendering{Same: []int{len(v.Values)}})
			}
		}
	}
}

// rendered renders the words of a text as variants, and returns the words that were given up.
func rendered(t *testing.T, s *variantServer, text string) ([]string, error) {
	t.Helper()
	var all []vary.Variant
	words := strings.Fields(text)
	for _, word := range words {
		all = append(all, vary.Variant{Values: []byte(word)})
	}
	out, err := s.render(t.Context(), all)
	var lost []string
	for i, r := range out {
		if r.GivenUp {
			lost = append(lost, words[i]+": "+r.Fault)
		} else if len(r.Same) != 1 || r.Same[0] != len(words[i]) {
			t.Errorf("%s got the answer of another one", words[i])
		}
	}
	return lost, err
}

// TestVariantServer checks that all other variants are answered although one ends its worker.
func TestVariantServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		s, err := startVariants(t.Context(), drift.ChartRequest{Known: &drift.Secrets{}}, fragile(&starts), 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		for _, test := range []struct {
			words  string
			lost   []string
			starts int
		}{
			{"a bb ccc", nil, 1},
			{"a die bb", []string{"die: no memory"}, 4}, // after the batch, alone after a, and alone in a new worker
			{"tired a", nil, 5},
			{"a bb", nil, 5},
			{"hang a", []string{"hang: it takes longer than 100ms"}, 7},
		} {
			lost, err := rendered(t, s, test.words)
			if err != nil || !slices.Equal(lost, test.lost) {
				t.Errorf("%s: lost %q, error %v", test.words, lost, err)
			}
			if starts != test.starts {
				t.Errorf("%s: %d starts, want %d", test.words, starts, test.starts)
			}
		}
	})
}

// TestVariantServerEnds checks that the server gives up at its limits, and can be renewed.
func TestVariantServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		s, err := startVariants(t.Context(), drift.ChartRequest{Known: &drift.Secrets{}}, fragile(&starts), 400*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		time.Sleep(450 * time.Millisecond)
		if _, err := rendered(t, s, "a hang"); err == nil || !strings.Contains(err.Error(), "takes longer than 400ms") {
			t.Errorf("error %v", err)
		}
		s.renew()
		if lost, err := rendered(t, s, "a"); err != nil || lost != nil {
			t.Errorf("after the renewal: %v, %v", lost, err)
		}
		if _, err := rendered(t, s, strings.Repeat("die ", 2*maxRestarts)); err == nil || starts > 2*maxRestarts {
			t.Errorf("error %v after %d starts", err, starts)
		}
	})
}
