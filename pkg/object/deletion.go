package object

// EndsDeletion reports whether a write removes an object that is being deleted, because it takes away all finalizers (apiserver v0.37.1
// pkg/registry/generic/registry/store.go ShouldDeleteDuringUpdate). Result is nil if there is no write.
func EndsDeletion(live, result map[string]any) bool {
	was, is := Child(live, "metadata"), Child(result, "metadata")
	return was["deletionTimestamp"] != nil && IsZero(was["deletionGracePeriodSeconds"]) &&
		result != nil && !IsZero(was["finalizers"]) && IsZero(is["finalizers"])
}
