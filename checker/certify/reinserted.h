// judge_reinserted(): judges a history in which two committed inserts stored the same record. It is
// then unknown which of the two inserts a read saw, so the history has no dependencies
// (dependencies.h) and certify() cannot judge it. judge_reinserted() takes three steps:
// 1. It reports what is wrong in every order: a record was inserted more often than it can have been
//    deleted, or a scan went backwards or returned a record twice.
// 2. If there is nothing of this kind, it tries serial orders (model/search_orders.h).
// 3. If it has tried too many orders, the verdict is kCouldNotJudge.
// Thread safety: pure function.
#pragma once

#include "checker/certify/certify.h"
#include "checker/certify/dependencies.h"

namespace keydrome::certify {

// Sets the verdict in `out`, adds violations to it, or does both. `context.versions.problem` must
// not be empty.
void judge_reinserted(const Context& context, Certification& out);

}  // namespace keydrome::certify
