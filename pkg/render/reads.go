package render

// Reads is what a template may read of the values of the chart.
type Reads struct {
	// Paths lead to the values that are read, from the root of the values of the whole chart. "*" stands for any key or item.
	Paths [][]string
	// Everything is set if the template may read values that are not in Paths, because it computes what it reads.
	Everything bool
}

// Reads returns what each template may read, by its path.
func (v *Variants) Reads() map[string]Reads { return nil }
