// move_back(): helps certify() (certify.h), which looks for a serial order of the transactions in a
// recorded history. certify() calls it for a history in which no serial order respects real time.
// An order respects real time if T1 precedes T2 whenever transaction T1 had returned before T2
// began. move_back() moves transactions back in time, and certify() judges the history again.
//
// A library may return results from states that are old but consistent. A transaction that read
// such a state *began too late*: another transaction that it must precede had already ended.
// move_back() moves transactions that began too late back to a time that fits their results. If
// certify() certifies the moved history, the replay on the model has proven that a serial order
// exists.
//
// The new time of a transaction must be after the begin of every transaction that must precede it,
// and before the end of every transaction that it must precede. Here "must precede" means an edge
// that does not depend on real time.
//
// Edges of two kinds are *doubtful*. The first kind depends on real time. The second kind depends
// on the current deleter of an *open element*. An open element is a record whose deleter is not
// known, and its current deleter is the transaction that is assumed to have deleted it
// (versions.h).
//
// move_back() first assumes that doubtful edges are right. If they lead to a cycle, some of them
// are wrong, because a reader saw an older state. move_back() then gives the readers in the cycle
// an earlier begin. These readers overlap more transactions, so real time no longer implies the
// edges. The begin first moves to the insert of the record that the doubtful edge is about. If the
// cycle remains, the begin moves to the earliest begin of all transactions in the cycle.
//
// An earlier begin cannot make a wrong result right, because certify() replays the order on the
// sequential model (model/model.h). But a reader with an earlier begin overlaps more transactions,
// which leaves more orders to search. So a reader's begin moves back no further than the cycles
// demand.
#pragma once

#include "checker/certify/dependencies.h"
#include "checker/history/history.h"

namespace keydrome::certify {

// Moves transactions of `moved` back in time, each to a thread of its own. `moved` must be a copy
// of the history of `context`, or this history itself. Returns false if no transaction is left to
// move. Each call of move_back() moves the first of these groups that is not empty:
// 1. Transactions that began too late. They move back to a time that fits their results.
// 2. Readers in a cycle that contains a doubtful edge. They move back to a time at which the record
//    of the edge may not have existed yet.
// 3. Transactions in a cycle that depends on the current deleters of open elements, preferably
//    transactions that only read. This group is empty if the history has many transactions.
// Cost: two passes over the history and a copy of it.
bool move_back(const Context& context, history::History& moved);

}  // namespace keydrome::certify
