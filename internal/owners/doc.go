// Package owners reads metadata.managedFields: who owns a field, what kind of writer that is, and which field manager deploys a release.
// The comparison asks it who wrote a live value, and a repair asks it what it may remove or hand over.
//
//	live object ─► Entries ─► Ownership ─► OwnersOf(path): the managers of a field, the latest first
//	                 │            └──────► IsDeployer: whether the release itself wrote it
//	                 ├─► FindDeployer: the field manager that Helm writes the release as
//	                 └── RawEntries ─► Fields, OwnerOf: one entry with its index, for a patch of managedFields; FieldsV1 writes it back
//	Managers (managers.yaml and a configuration) ─► the group of a manager: deployer, person, controller, or unknown
//
// # What managedFields prove
//
// Clients choose their manager names themselves, so names are evidence, not proof. The API server records the writer as owner of the
// defaults that the write causes, and records no owner for values that it allocates itself. It forgets some writers: those beyond
// ten managers of one object (ancient-changes), those before the first apply (before-first-apply), and whoever scales replicas to 0.
//
// # Laziness
//
// Decoding managedFields takes as long as comparing the object, and most objects of a release are as they were deployed. So an [Ownership]
// decodes them at the first question.
//
// # Sources
//
// k8s.io/apimachinery v0.37 pkg/util/managedfields has the rules of the API server, and
// sigs.k8s.io/structured-merge-diff v6 fieldpath has the format of fieldsV1 and the types for it.
package owners
