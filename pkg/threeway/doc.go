// Package threeway compares what Helm deployed (old), what it would deploy (desired) and what the cluster holds (live).
package threeway
