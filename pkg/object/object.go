package object

// Object is one object of a manifest, as Helm parses it. Its namespace is set if it has one, also if the manifest leaves it to the release;
// the metadata that Helm itself writes is not in it ([HelmMetadata]).
type Object struct {
	Ref
	// GenerateName is set, and Name is empty, if the manifest leaves the name to the API server. Such an object has no live side.
	GenerateName string
	// Source is the template that the object comes from, as the manifest's "# Source:" comment says it; empty after a post-renderer.
	Source string
	// Content is the decoded object.
	Content map[string]any
	// Problem is the reason why Helm refuses the object, such as a missing name or kind; empty for almost all.
	Problem string
	// Note is a remark for people, such as that the manifest has the object twice.
	Note string
	// Times is the number of times that the manifest has the object, if that is more than once.
	Times int
	// Again is the object of a second rendering if it differs from Content, and nil otherwise. What differs between the two is volatile.
	// Only objects of desired have it.
	Again map[string]any
	// AtOnce is the object of a second rendering at the time of the first. It is set only if Again was rendered with the clock put
	// forward.
	AtOnce map[string]any
}
