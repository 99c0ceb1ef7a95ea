// Judges histories in which two committed inserts stored the same record. It is then unknown which of
// the two inserts a read saw, so the history has no dependencies (dependencies.h). There are two
// ways to judge such a history:
// - Real time often shows which insert a read saw. split_reinserted() then gives the record another
//   element for each insert, and certify() judges the history as any other.
// - Otherwise judge_reinserted() takes three steps:
//   1. It reports what is wrong in every order: a record was inserted more often than it can have
//      been deleted, or a scan went backwards or returned a record twice.
//   2. If there is nothing of this kind, it tries serial orders (model/search_orders.h).
//   3. If it has tried too many orders, the verdict is kCouldNotJudge.
// Thread safety: pure functions.
#pragma once

#include "checker/certify/certify.h"
#include "checker/certify/dependencies.h"

namespace keydrome::certify {

// Gives each record that was inserted several times one element for each insert, and fills
// Numbering::earlier. Returns false, and leaves `numbering` unusable, if a transaction that names
// such a record overlaps an insert of it. The elements are right only for orders that respect real
// time.
bool split_reinserted(const history::History& history, const history::Transactions& transactions,
                      history::Numbering& numbering);

// Reports a record that was inserted more often than it can have been deleted.
void report_wrong_inserts(const Context& context, Certification& out);

// Sets the verdict in `out`, adds violations to it, or does both. `context.versions.problem` must
// not be empty.
void judge_reinserted(const Context& context, Certification& out);

}  // namespace keydrome::certify
