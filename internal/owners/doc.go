// Package owners reads metadata.managedFields: who owns a field, what kind of writer that is, and under which field manager a release is
// deployed. The comparison asks it who wrote a live value, and a repair what it may remove or hand over.
//
//	live object ─► Entries ─► Ownership ─► OwnersOf(path): the managers of a field, the latest first
//	                 │            └──────► IsDeployer: whether the release itself wrote it
//	                 ├─► FindDeployer: the field manager under which Helm writes the release
//	                 └── RawEntries ─► Fields, OwnerOf: one entry with its index, for a patch of managedFields; FieldsV1 writes it back
//	Managers (managers.yaml and a configuration) ─► the group of a manager: deployer, person, controller, or unknown
//
// # What managedFields prove
//
// Clients choose their manager names themselves, so names are evidence, not proof. The API server credits a client's write with the
// defaults that the write caused, and values that the server allocates itself have no owner. It forgets writers: those beyond ten
// managers of one object (ancient-changes), those before the first apply (before-first-apply), and whoever scales replicas to 0.
//
// # Laziness
//
// Decoding managedFields takes as long as comparing the object, and most objects of a release are as they were deployed. So an [Ownership]
// decodes them at the first question.
//
// # Sources
//
// k8s.io/apimachinery v0.37 pkg/util/managedfields has the rules by which the API server keeps them, and
// sigs.k8s.io/structured-merge-diff v6 fieldpath the format of fieldsV1 and the types for it that are used here.
package owners
