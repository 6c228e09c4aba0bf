// Package storetest is the contract of [traintravel.Store] as a test suite,
// for authors of stores, and a wrapper that tests the users of one.
//
// # What to implement
//
// A type with the methods of [traintravel.Store], whose comments are the
// contract. It keeps bytes under keys in order and knows nothing of trains: no
// index, no expiry, no encoding. Package store/memstore is the whole of it but
// durability, in some 300 lines; if in doubt, see what that does.
//
// # How to call the suite
//
// In your package's tests, for a store in files that mystore.Open opens and
// makes if need be:
//
//	func openAt(t testing.TB, dir string) storetest.Durable {
//		s, err := mystore.Open(filepath.Join(dir, "store"))
//		if err != nil {
//			t.Fatal(err)
//		}
//		return s
//	}
//
//	func open(t testing.TB) traintravel.Store { // new and empty
//		s := openAt(t, t.TempDir())
//		t.Cleanup(func() { s.Close() })
//		return s
//	}
//
//	func twice(t testing.TB) traintravel.Store { return storetest.Twice(open(t)) }
//
//	func TestStore(t *testing.T)            { storetest.Run(t, open) }
//	func TestConcurrency(t *testing.T)      { storetest.RunConcurrency(t, open) }
//	func TestTwice(t *testing.T)            { storetest.Run(t, twice) }
//	func TestTwiceConcurrency(t *testing.T) { storetest.RunConcurrency(t, twice) }
//	func TestDurability(t *testing.T)       { storetest.RunDurability(t, openAt) }
//	func TestSimulate(t *testing.T)         { storetest.Simulate(t, open) }
//	func BenchmarkStore(b *testing.B)       { storetest.Bench(b, open) }
//
// [Run] and [RunConcurrency] must pass on [Twice] of a store as on the store
// itself. [RunDurability] is not for it: what Twice returns cannot be closed.
// What a store's Close must do is said at [Durable]; one that keeps nothing
// needs neither that nor openAt.
//
// Each check has a store of its own and runs in parallel with the others; run
// them with -race and several times over. Nothing in them is timed: a slow
// store passes, and a store that hangs fails by -timeout. While you write one,
// -timeout 2m spares you the ten minutes that go test waits by itself.
//
// # What the checks prove
//
// [Run], one thing at a time:
//
//   - Empty, Get, Range, Pages, Tables: what reads return, by the Store, in a
//     View and in an Update alike.
//   - Keys, Values: every key within the limits is its own record, in the
//     order of bytes; every value comes back, an empty one as not absent.
//   - OwnValues: what the Store's own reads returned is not changed by later
//     updates.
//   - View, Snapshot: a View's error comes back as it is; its reads see one
//     moment.
//   - Update, LastWrite, ManyWrites: what an update leaves.
//   - Refusal, ReadAfterWrite, CheckKey, Panic, Context: an update that is
//     given up leaves nothing, for whichever reason, tells its caller the
//     right one, and the store goes on.
//
// [RunConcurrency], many at once:
//
//   - LastPlace, Counter, FirstOnly: no update is lost, and none decides on
//     what another is changing, be it a record, a missing one, or a range.
//   - Mixed, Cancelled: one caller's refusal, panic or cancellation is his
//     alone, and no closure runs on when its Update has returned.
//   - Transfers: neither views nor updates see half of an update.
//   - WriteSkew: two updates that each read what the other writes do not both
//     succeed.
//   - RealTime: whoever comes after an update has returned sees it.
//   - History: updates at random, from whose reads it is worked out whether
//     any order of one after another explains them.
//
// [RunDurability]: Reopen, ReopenAfterLoad and Killed, all that was
// acknowledged is there when the store is opened again.
//
// [Simulate] runs whole histories of a railway on the store, under faults, with several servers
// and users that want the same seats, and checks every answer against a model.
//
// They cannot prove that a store survives a loss of power, that a refusal costs
// no write to stable storage, or that it never answers with
// [traintravel.ErrUnknownOutcome] where it could have looked: they expect no
// error at all but a closure's own and its context's.
//
// # What is undefined
//
// List of a table that [traintravel.Tables] does not have, and List with a
// negative Limit. Stores need not agree on what they return, and no check
// tries.
//
// # Common mistakes
//
//   - Snapshot isolation. It is what databases give by "repeatable read", and
//     it lets WriteSkew, FirstOnly and History fail. Ask for serializable, and
//     run the closure again on a serialization failure: to the caller that is
//     no error.
//   - A collation. Keys are bytes: a text column in the database's locale
//     folds, orders or refuses some. Use a binary type.
//   - An empty value stored as NULL or read back as nil, which is absent.
//   - A range end that needs a successor: From and To need not be keys, and
//     may be longer than one.
//   - A limit applied before the order is reversed.
//   - Values that point into a memory map or a buffer, returned by the
//     Store's own Get or List: copy those. A closure's need no copy.
//   - A closure's error wrapped, or its panic turned into an error.
//   - ErrReadAfterWrite returned by Get but forgotten by Update, when the
//     closure does not pass it on: when it returns nil or an error of its own.
//   - Group commit in which a refusal, a panic or a cancelled context of one
//     member reaches the others, or whose leader gives up for all when its
//     own context ends.
//   - A context's error returned when the commit is already under way, and
//     then takes place.
package storetest
