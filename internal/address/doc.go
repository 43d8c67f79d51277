// Package address lists the addresses of the network that helmdrift never fetches from, even if a source names them. Sources are objects of
// the cluster or of a working tree, and whoever may write one must not choose what the machine of the user reads.
//
//	host ─► Lookup ─► its addresses ─► Check ─► the reason why one of them is refused
//
// The name of a host may mean another address a moment later. So a caller passes Check to whatever connects, and does not rely on Lookup
// alone.
package address
