package absorb

// Apply is apply, for tests.
var Apply = apply
