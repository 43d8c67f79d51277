// Package live reads what the cluster holds: many objects, few requests. It writes what a repair asks for, and nothing by
// itself.
//
// # Few requests
//
// A tool that sends one request per object is slow on a far cluster and rude to a busy one. [Cluster.Read] therefore
// follows a budget. It sorts the wanted objects into groups of one kind in one namespace and asks for a group as a whole
// where that is cheaper:
//
//	1 or 2 objects of a kind in a namespace    a get each
//	3 or more                                  one list of what Helm labelled as its own, then gets for what it lacks
//	up to 10 objects of a cluster-scoped kind  a get each; above that a list
//
// A namespace may hold thousands of objects of other releases under the same label, so a list is read in pages and
// given up as soon as a page brings less than half of what is still wanted; the rest is got by name. The size of the
// answer thus depends on the release and not on its neighbours.
//
// Before all that stands discovery: two requests on a server that answers in the aggregated form, which every
// server since Kubernetes 1.30 does. A release of 42 objects of 9 kinds costs about a dozen requests.
//
// # Nothing is not the same as not seen
//
// "The object is not there" is a finding that makes people act, so it is said only when the server said it about that
// very object. Each wanted object gets one of three answers:
//
//   - the object;
//   - an absence: the object, its namespace or its kind at this version does not exist. A server answers 404 in the
//     first two cases alike, so one get of the namespace tells them apart, and only where nothing else was found in it;
//   - an error: forbidden, throttled, timed out, the server failed, or discovery of the object's group did.
//
// Errors stay with their objects. A list that is forbidden becomes gets. A dead API service hurts the objects of its own
// group. A panic while one object is read is an error of that object.
//
// # Asking the server
//
// [Cluster.DryRun] sends the very writes that Helm would send, with dryRun=All: the server judges them and stores nothing. It
// asks only where that is sure, which leaves out aggregated API servers. A refusal to store the object is the server's
// judgement, and the upgrade will meet it; a missing permission, a webhook that is down or a time-out is none, and proves
// nothing.
//
// # Writing
//
// [Cluster.Write] sends one request, once. After a broken connection or an answer of 5xx nobody knows whether a write took
// place, so neither the transport nor client-go repeats it: who planned it looks with [Cluster.Get], and decides. What the
// server says in refusing is cut to places and reasons, since it may echo the object.
//
// # Charts that look
//
// [Lookups] is for charts whose templates read the cluster. It lets nothing but GET pass, and gives one answer to a question
// that is asked again.
//
// # Patience
//
// All clients of a [Cluster] (its own, [Cluster.Dynamic], [Cluster.Metadata]) share one transport and one client limit.
// The transport repeats reads and dry runs, with growing and jittered pauses, where waiting may help: 429, 502, 503, 504,
// etcd changing its leader, a broken connection. The limit is what the user says; else none where the server shows in its
// first answer that it has API Priority and Fairness (it then queues fairly by itself); else 50 requests per second, 300 at
// once.
package live
