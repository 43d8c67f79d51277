// Package deployer has what the guests share that predict the next step of a deployer. A deployer is a controller, such as Flux, or a tool
// that a person calls, such as Terraform. The package is no guest: several of them import it.
//
//	many releases ─► Fleet ─► one report each, whatever goes wrong with one of them; Scanned is the cluster that they are in
//	their charts ──► Fetched ─► each fetched once
//	their objects ─► Tool ─► decoded, or an error that names the object and the tool
//	two reports ───► Changed ─► how many objects the chart itself changes
//
// What a deployer does, and what to compare for that, is the matter of its guest.
package deployer
