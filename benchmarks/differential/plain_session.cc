// Implements the plain sessions, which are simple sequences of calls: create an index, insert
// ascending keys by auto-commit, then scan in one transaction.
#include "benchmarks/differential/plain_session.h"

namespace keydrome::differential {
namespace {

Case plain_session(uint32_t records) {
  Case session{.indexes = {SHORT}, .keys = {}, .texts = {""}, .calls = {}};
  std::vector<Call>& calls = session.calls;
  calls.push_back({.kind = CallKind::kCreate});
  calls.push_back({.kind = CallKind::kOpen});
  for (uint32_t i = 0; i < records; ++i) {
    session.keys.push_back({.number = i + int64_t{1}, .text = {}});
    calls.push_back({.kind = CallKind::kInsert, .key = i, .tag = i + 1});
  }
  calls.push_back({.kind = CallKind::kBegin});
  for (uint32_t i = 0; i <= records; ++i) calls.push_back({.kind = CallKind::kNext});
  calls.push_back({.kind = CallKind::kCommit});
  return session;
}

}  // namespace

std::vector<Case> plain_sessions() { return {plain_session(1'100), plain_session(5'500)}; }

}  // namespace keydrome::differential
