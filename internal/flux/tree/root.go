package tree

import (
	"encoding/json"
	"path/filepath"
)

// liveRoots returns the Kustomizations of the cluster that build the folder of the user. The folder need not have the one that builds it:
// another folder has it, or Flux Operator makes it of a FluxInstance. Those that the folder makes are as Git has them. One that made an
// object of the folder and is not known to build the folder is a failure: what it changes and prunes is not known. So is one that only may
// build the folder, if none is known to.
func (b *builder) liveRoots(dir, folder string, objects []made) (roots []*kustomization, err error) {
	if b.ofCluster == nil {
		return nil, nil
	}
	var asked []Asked
	isMade := map[Maker]bool{}
	for _, o := range objects {
		key := keyOf(o.value)
		if key.isRead() && key.namespace != "" {
			asked = append(asked, Asked{Kind: key.kind, Namespace: key.namespace, Name: key.name})
		}
		if key.group == fluxGroup {
			isMade[Maker{key.namespace, key.name}] = true
		}
	}
	candidates, err := b.ofCluster(b.ctx, asked)
	if err != nil {
		return nil, err
	}
	var doubts []*Problem
	for _, c := range candidates {
		if isMade[c.Maker] {
			continue
		}
		switch k, problem := b.liveRoot(dir, folder, c); {
		case k != nil:
			roots, b.answer.Roots = append(roots, k), append(b.answer.Roots, k.maker)
		case problem != nil && c.Made != "":
			b.report(*problem) // another root does not say what this one changes
		case problem != nil:
			doubts = append(doubts, problem)
		}
	}
	for _, p := range doubts {
		if len(roots) == 0 {
			b.report(*p)
		}
	}
	return roots, nil
}

// liveRoot returns a candidate if it builds the folder of the user, or else says why it is not known to. It says nothing if the candidate
// builds another folder and made nothing of this one.
func (b *builder) liveRoot(dir, folder string, c Candidate) (*kustomization, *Problem) {
	not := func(why, advice string) (*kustomization, *Problem) {
		if c.Made != "" {
			why = "it made " + c.Made + ", and " + why
		}
		return nil, &Problem{Failed, c.Maker.String(), why, advice}
	}
	if c.Unread != "" {
		return not("whether it builds this folder is not known, nor what it changes and prunes: "+c.Unread, "")
	}
	var value map[string]any
	_ = json.Unmarshal(c.JSON, &value) // the caller encoded it
	k := fluxKustomization(value)
	if k == nil {
		return not("a field of it has another type than Flux gives it", "")
	}
	isHere := k.folder() == folder
	if isHere || b.order.localSource(k.Spec.SourceRef) != "" {
		from, problem := b.source(k)
		switch {
		case from == nil && c.Made == "": // other repositories have folders of this name, too
			return nil, problem
		case from == nil:
			return not(problem.Message, problem.Advice)
		}
		isHere = filepath.Join(from.Dir, filepath.FromSlash(k.folder())) == dir
	}
	switch {
	case isHere:
		return k, nil
	case c.Made == "":
		return nil, nil
	}
	return not("it builds the folder "+k.folder()+" of its source", "name that folder, or the folder that has this Kustomization")
}
