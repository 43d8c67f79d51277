package object

// Object is one object of a manifest, as Helm parses it. If its kind is namespaced, its namespace is set, even if the manifest leaves it
// to the release. It lacks the metadata that Helm itself writes ([HelmMetadata]).
type Object struct {
	Ref
	// GenerateName is set, and Name is empty, if the manifest leaves the name to the API server. Such an object has no live side.
	GenerateName string
	// Source is the template of the object, from the manifest's "# Source:" comment. It is empty after a post-renderer.
	Source string
	// Content is the decoded object.
	Content map[string]any
	// Problem is the reason why Helm refuses the object, such as a missing name or kind. It is empty for almost all objects.
	Problem string
	// Note is a remark for people, such as that the manifest has the object twice.
	Note string
	// Times is how often the manifest has the object, if more than once.
	Times int
	// Again is the object of a second rendering if it differs from Content, and nil otherwise. What differs between the two is volatile.
	// Only objects of desired have Again.
	Again map[string]any
	// AtOnce is the object of a second rendering at the time of the first. It is set only if Again was rendered with a later clock.
	AtOnce map[string]any
}
