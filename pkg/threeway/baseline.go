package threeway

// Accept silences what another report, made before, has already: findings by their id, and what is said of objects by theirs. What is
// new since counts as ever. Name is what the report calls the other one.
func (r *ReleaseReport) Accept(known *Report, name string) {
	fields, objects := map[string]bool{}, map[string]bool{}
	for _, release := range known.Releases {
		if release.Name != r.Name || release.StorageNamespace != r.StorageNamespace {
			continue
		}
		for _, o := range release.Objects {
			objects[o.ID] = true
			for _, f := range o.Fields {
				fields[f.ID] = true
			}
		}
	}
	rule := &IgnoreRule{Rule: name, Reason: "known since " + known.Time.UTC().Format("2006-01-02 15:04")}
	r.Drifted = false
	for i := range r.Objects {
		o := &r.Objects[i]
		if objects[o.ID] && o.IgnoredBy == nil {
			o.IgnoredBy = rule
		}
		o.Drifted = o.Missing && o.IgnoredBy == nil
		for j := range o.Fields {
			f := &o.Fields[j]
			if fields[f.ID] && f.IgnoredBy == nil {
				f.IgnoredBy = rule
			}
			o.Drifted = o.Drifted || f.Drifted()
		}
		r.Drifted = r.Drifted || o.Drifted
	}
}
