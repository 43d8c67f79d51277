package ignored

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/itchyny/gojq"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Time is how long Argo CD lets one expression work on one object, unless its controller has another ARGOCD_IGNORE_NORMALIZER_JQ_TIMEOUT.
const Time = time.Second

// Step removes a part of an object. One of its fields is set.
type Step struct{ Pointer, Expression string }

// Object is an object of the sources and the same object of the cluster as JSON, with the steps that are about it. Result is the latter
// after a server-side apply, or empty.
type Object struct {
	Desired, Live, Result []byte
	Steps                 []Step
}

// Order asks for what is left of objects. Expressions are all that Argo CD compiles for an Application, also those about other objects.
type Order struct {
	Expressions []string
	Objects     []Object
	// Time is how long one expression may work on one object.
	Time time.Duration
}

// Answer has what is left of each object of an order, in its order. It has none if an expression is broken, since Argo CD then compares
// nothing.
type Answer struct {
	Objects []Left
	Broken  []Broken
}

// Left is what Argo CD compares of an object.
type Left struct {
	Desired, Live, Result []byte
	// Slow are the expressions that took too long and were left out.
	Slow []string
	// IsNone is set if what is left is no object any more, which Argo CD cannot compare.
	IsNone bool
}

// Broken is an expression that does not compile, and why.
type Broken struct{ Expression, Reason string }

// Run runs an order. It fails only if ctx ends.
func (o Order) Run(ctx context.Context) (Answer, error) {
	programs, out := map[string]*gojq.Code{}, Answer{}
	for _, expression := range o.Expressions {
		program, err := compile(expression)
		if err != nil {
			out.Broken = append(out.Broken, Broken{expression, err.Error()})
		}
		programs[expression] = program
	}
	if len(out.Broken) > 0 {
		return out, nil
	}
	for _, object := range o.Objects {
		left := Left{Desired: object.Desired, Live: object.Live, Result: object.Result}
		texts := []*[]byte{&left.Desired, &left.Live}
		if len(left.Result) > 0 {
			texts = append(texts, &left.Result)
		}
		for _, text := range texts {
			for _, step := range object.Steps {
				done, err := o.take(ctx, step, programs[step.Expression], *text)
				switch {
				case ctx.Err() != nil:
					return out, context.Cause(ctx)
				case errors.Is(err, context.DeadlineExceeded):
					left.Slow = append(left.Slow, step.Expression)
				case err == nil:
					*text = done
				}
			}
			var content map[string]any
			left.IsNone = left.IsNone || json.Unmarshal(*text, &content) != nil || content["kind"] == nil
		}
		slices.Sort(left.Slow)
		left.Slow = slices.Compact(left.Slow)
		out.Objects = append(out.Objects, left)
	}
	return out, nil
}

// compile compiles an expression as Argo CD does.
func compile(expression string) (*gojq.Code, error) {
	query, err := gojq.Parse(fmt.Sprintf("del(%s)", expression))
	if err != nil {
		return nil, err
	}
	return gojq.Compile(query)
}

// take returns a text after a step. Program is the one of its expression.
func (o Order) take(ctx context.Context, step Step, program *gojq.Code, text []byte) ([]byte, error) {
	if step.Expression == "" {
		return remove(step.Pointer, text)
	}
	var content map[string]any
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	results := program.RunWithContext(limited, content)
	first, found := results.Next()
	if err, failed := first.(error); failed {
		return nil, err
	}
	if !found {
		return nil, errors.New("it has no result")
	}
	if second, more := results.Next(); more {
		if err, failed := second.(error); failed {
			return nil, err
		}
		return nil, errors.New("it has several results")
	}
	return json.Marshal(first)
}

// remove removes the place of a JSON pointer.
func remove(pointer string, text []byte) ([]byte, error) {
	operations, err := json.Marshal([]map[string]string{{"op": "remove", "path": pointer}})
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		return nil, err
	}
	return patch.Apply(text)
}
