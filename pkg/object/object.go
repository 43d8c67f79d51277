package object

// Object is one object of a manifest, as Helm parses it: the defaulted namespace is in it, Helm's own metadata is not.
type Object struct {
	Ref
	// GenerateName is set, and Name empty, where the manifest asks the server for a name. Such objects have no live side.
	GenerateName string
	// Source is the template the object came from, as the manifest's "# Source:" comment says it; empty after a post-renderer.
	Source string
	// Content is the decoded object. Integers are int64.
	Content map[string]any
	// Problem says why Helm refuses the object (it has no name, no kind …); empty for almost all.
	Problem string
	// Note is a remark for the reader, such as that the manifest names the object twice.
	Note string
	// Times is how often the manifest names the object, where that is more than once.
	Times int
	// Again is what a second rendering makes of the object where it differs from Content; nil where it does not. What differs
	// between the two is volatile. Of desired's objects only.
	Again map[string]any
	// AtOnce is what a second rendering at the same time makes of the object, where Again was rendered with the clock put forward;
	// nil where Again is just that.
	AtOnce map[string]any
}
