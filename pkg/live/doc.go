// Package live reads the objects of a release from the cluster, with few requests. It also sends the writes of a repair and
// the dry runs of an upgrade, and only those that its caller asks for.
//
//	wanted refs ─► Read ──── discovery, lists, gets ───► object, absence or error of each ref
//	requests ────► DryRun ── writes with dryRun=All ───► the server's judgement of each request
//	one request ─► Write ─── one write, sent once ─────► the object after it
//	a template ──► Lookups ─ gets, recorded ───────────► the same answer each time
//
// The first lines of a program:
//
//	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
//	cluster, err := live.Connect(ctx, config, live.Options{UserAgent: "my-program"})
//	answers := cluster.Read(ctx, []object.Ref{ref})
//
// # Few requests
//
// A tool that sends one request per object is slow on a distant cluster and a burden for a busy one. [Cluster.Read] therefore
// has a budget. It sorts the wanted objects into groups of one kind in one namespace, and lists a whole group where that is
// cheaper:
//
//	1 or 2 objects of a kind in a namespace    a get each
//	3 or more                                  one list of what Helm labelled as its own, then gets for what it lacks
//	up to 10 objects of a cluster-scoped kind  a get each; above that a list
//
// A namespace may hold thousands of objects of other releases under the same label. A list is therefore read in pages, and
// ends as soon as a page has less than half of the objects that are still wanted; the others are read by name. So the size
// of the answers depends on the release and not on its neighbours.
//
// Discovery comes first. It takes two requests on a server that answers in the aggregated form, as every server since
// Kubernetes 1.30 does. A release of 42 objects of 9 kinds costs about a dozen requests.
//
// # Absent is not unseen
//
// "The object does not exist" is a finding that makes people act, so it is reported only if the server said it about that
// very object. Each wanted object gets one of three answers:
//
//   - the object;
//   - an absence: the object, its namespace or its kind at this version does not exist. A server answers 404 in the first two
//     cases alike, so one get of the namespace distinguishes them, unless another object was found in it;
//   - an error: the request was forbidden, throttled or timed out, the server failed, or discovery of the object's group did.
//
// An error concerns only its object. A list that is forbidden becomes gets. A broken API service affects the objects of its
// own group. A panic while one object is read becomes the error of that object.
//
// # Dry runs
//
// [Cluster.DryRun] sends the writes that Helm would send, with dryRun=All: the server judges them and stores nothing. It skips
// aggregated API servers, because they may ignore dryRun and store the object. If the server rejects an object, the upgrade
// will meet the same refusal. A missing permission, a webhook that is down or a timeout proves nothing about the upgrade.
//
// # Writing
//
// [Cluster.Write] sends one request, once. After a broken connection or an answer of 5xx nobody knows whether a write took
// place, so neither the transport nor client-go repeats it: the caller looks with [Cluster.Get] and decides. The server's
// message about a refusal is cut to places and reasons, because it may echo the object.
//
// # Lookups of templates
//
// [Lookups] is for charts whose templates read the cluster. It lets only GET pass, and answers a repeated question from its
// recording.
//
// # Retries and the rate limit
//
// All clients of a [Cluster] (its own, [Cluster.Dynamic], [Cluster.Metadata]) share one transport and one client limit. The
// transport repeats reads and dry runs, with growing and jittered pauses, where waiting may help: 429, 502, 503, 504, a change
// of etcd's leader, a broken connection. The user can set the limit. Otherwise there is none if the server's first answer
// shows that it has API Priority and Fairness, which queues requests fairly by itself; without that, the limit is 50 requests
// per second, 300 at once.
package live
