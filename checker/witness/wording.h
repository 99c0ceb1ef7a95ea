// Wording: writes calls and results of a recorded history as text for people.
//
// A history has only hashes of payloads. So Wording names the records r1, r2 and so on, in the
// order in which the described calls first mention them. Thread safety: constant after
// construction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checker/certify/violation.h"
#include "checker/history/history.h"

namespace keydrome::witness {

class Wording {
 public:
  // `calls` must contain all calls that will be described, in any order. `history` must outlive the
  // object.
  Wording(const history::History& history, std::vector<history::EventRef> calls);

  std::string record(uint64_t payload) const;             // name of a record, such as r1
  std::string call(const history::Event& event) const;    // call, such as get("A", 5)
  std::string answer(const history::Event& event) const;  // result, such as SUCCESS, r1

 private:
  std::string index(const history::Event& event) const;

  const history::History& history_;
  std::map<uint64_t, std::string> records_;  // by payload
};

// Returns text such as ", handle 2" for a call that passed the thread's second handle of the index.
// Returns "" for the first handle.
std::string handle_text(const history::Event& event);

}  // namespace keydrome::witness
