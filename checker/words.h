// Words: calls and answers of a history for people. Payloads are hashes in a history, so records
// are called r1, r2, ... in the order in which they are first mentioned. Thread safety: constant
// after construction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checker/history.h"
#include "checker/violation.h"

namespace keydrome {

class Words {
 public:
  // `calls`: those that will be spoken of, in any order. Borrows `history`.
  Words(const History& history, std::vector<EventRef> calls);

  std::string record(uint64_t payload) const;    // "r1"
  std::string call(const Event& event) const;    // get("A", 5)
  std::string answer(const Event& event) const;  // SUCCESS, r1

 private:
  std::string index(const Event& event) const;

  const History& history_;
  std::map<uint64_t, std::string> records_;  // by payload
};

}  // namespace keydrome
