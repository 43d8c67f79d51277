// Package bucket reads a bucket of S3 or of a server with the same API, as source-controller reads it for a Bucket of Flux: it lists the
// objects, computes the revision of the Bucket from their names and ETags, and fetches those that a chart needs.
//
//	Source ─► Open: .sourceignore, the list of objects ─► Listing ─┬► Revision, which status.artifact.revision can be compared with
//	                                                               └► Fetch: files and folders ─► a folder of this machine
//
// The whole bucket is listed, because only the list proves that the objects are those that source-controller has. Only the wanted objects
// are fetched, and each must still be the one of the list.
//
// The server is foreign: whoever may write a Bucket chooses it. It decides nothing but the content of the files. No redirect is followed,
// no name leads out of the folder, and there are limits for the number of objects, of pages and of bytes. The lists are read in this
// process: the decoder of encoding/xml expands no entities of a document and reads no other document, so what it makes of a page grows with
// the page alone.
//
// A request is signed with the signature version 4 of AWS if there are keys, and is anonymous otherwise.
package bucket
