// Judges recorded histories in which two committed inserts stored the same record. It is then
// unknown which of the two inserts a read saw. So find_dependencies() cannot derive which
// transaction must precede which (dependencies.h). There are two ways to judge such a history:
// - Real time often shows which insert a read saw. split_reinserted() then gives each insert of the
//   record an element of its own, and certify() judges the history like any other. An *element* is
//   the number of a record (numbering.h).
// - Otherwise judge_reinserted() takes two steps:
//   1. It reports what is wrong in every order: a record was inserted again although no delete can
//      have removed it, or a transaction contradicts its own scan or its own writes.
//   2. If there is nothing of this kind, it tries serial orders (model/search_orders.h). If there
//      are too many transactions or orders, the verdict is kCouldNotJudge.
// Thread safety: the functions change only their arguments `numbering` and `out`, and use no global
// state.
#pragma once

#include "checker/certify/certify.h"
#include "checker/certify/dependencies.h"

namespace keydrome::certify {

// If a record was inserted several times, assigns one element to each of these inserts, and fills
// Numbering::earlier. Returns false, and leaves `numbering` unusable, in two cases: two inserts of
// the record overlap, or the second or a later insert overlaps another transaction that names the
// record. The elements are right only for orders that respect real time.
bool split_reinserted(const history::History& history, const history::Transactions& transactions,
                      history::Numbering& numbering);

// Reports a record that was inserted again although no delete can have removed it before.
void report_wrong_inserts(const Context& context, Certification& out);

// Sets the verdict in `out`, adds violations to `out`, or does both. `context.versions.problem`
// must not be empty.
void judge_reinserted(const Context& context, Certification& out);

}  // namespace keydrome::certify
