// Implements the longer functions of CrowdRecord, which judges the recorded calls of a crowd (a
// scenario with loops and many threads).
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "benchmarks/scenarios/crowds/crowd_kind.h"

namespace keydrome::scenarios {

using history::Event;
using history::EventCall;
using history::Transaction;

std::string CrowdRecord::repeated_record() const {
  using Place = std::tuple<uint16_t, uint64_t, uint64_t>;  // index, key and payload
  for (const Transaction& transaction : transactions_.committed) {
    // Records returned since the last call that may move a cursor or change the index.
    std::set<Place> seen;
    bool repeated = false;
    for_each_call(history_, transaction, [&](uint32_t, const Event& event) {
      const bool record = call_of(event) == EventCall::kNext && succeeded(event);
      if (call_of(event) != EventCall::kNext) seen.clear();
      if (record) repeated |= !seen.insert({event.index, event.key, event.payload}).second;
    });
    if (repeated) {
      return "a scan of thread " + std::to_string(transaction.thread) +
             " returned one record twice, but must return each record once";
    }
  }
  return "";
}

std::string CrowdRecord::found(const std::vector<ExpectedScan>& right) const {
  const auto scanned = scans();
  if (scanned.size() < right.size()) {
    const FailedScan failed = failed_scan();
    const bool is_known = failed.number < right.size() && failed.last != nullptr;
    return std::to_string(scanned.size()) + " of " + count_text(right.size(), "scan") +
           " committed, but all must commit" +
           (is_known ? ": the last attempt of " + right[failed.number].name + " ended when " +
                           std::string(call_name(call_of(*failed.last))) + " returned " +
                           code_text(*failed.last)
                     : "");
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (scanned[i].second == right[i].records) continue;
    return right[i].name + " found " + count_text(scanned[i].second, "record") +
           ", but must find " + std::to_string(right[i].records);
  }
  return "";
}

CrowdRecord::FailedScan CrowdRecord::failed_scan() const {
  std::vector<Transaction> all = transactions_.committed;
  all.insert(all.end(), transactions_.others.begin(), transactions_.others.end());
  std::ranges::sort(all, {},
                    [](const Transaction& one) { return std::pair(one.thread, one.first); });
  FailedScan failed;
  for (const Transaction& transaction : all) {
    const Event* last = nullptr;
    bool is_scan = false, ended = false;
    for_each_call(history_, transaction, [&](uint32_t, const Event& event) {
      is_scan |= call_of(event) == EventCall::kNext;
      ended |= event.code == DB_END;
      if (!succeeded(event) && event.code != DB_END) last = &event;
    });
    const bool committed = transaction.state == history::TransactionState::kCommitted && ended;
    // An attempt that is not followed by another attempt of the same scan is the last one.
    if (failed.last != nullptr && !is_scan) return failed;
    if (committed) ++failed.number;
    if (is_scan) failed.last = committed ? nullptr : last;
  }
  return failed;
}

}  // namespace keydrome::scenarios
