// Package owners reads metadata.managedFields: who wrote a field last, what kind of writer that is, and under which name a release is
// deployed. The comparison asks it whose a value is, a repair asks it what it may take away or hand over.
//
//	live object ─► Entries ─► Ownership ─► OwnersOf(path): the managers of a field, the latest first
//	                 │            └──────► IsDeployer: the release itself wrote it
//	                 ├─► FindDeployer: the field manager under which Helm writes the release
//	                 └── RawEntries ─► Fields, OwnerOf: one entry with its index, for a patch of managedFields; FieldsV1 writes it back
//	Managers (managers.yaml and a configuration) ─► the group of a manager: deployer, person, controller, or unknown
//
// # What managedFields prove
//
// Manager names are chosen by the client that writes: they are evidence, not proof. The API server credits a client's write with the
// defaults that it caused, and what it allocates itself belongs to nobody. It forgets writers: beyond ten managers of one object
// (ancient-changes), before the first apply (before-first-apply), and where replicas are scaled to 0.
//
// # Laziness
//
// Decoding managedFields takes as long as comparing the object, and most objects of a release are as they were deployed. So [Lazy] decodes
// on the first question.
//
// # Sources
//
// k8s.io/apimachinery v0.37 pkg/util/managedfields and sigs.k8s.io/structured-merge-diff v6 fieldpath: the format of fieldsV1, of which the
// types are used here.
package owners
