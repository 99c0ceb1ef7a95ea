// Narration: a session in words, in the notation of the scenarios, for people.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "benchmarks/differential/calls.h"
#include "checker/history.h"

namespace keydrome::differential {

class Narrator {
 public:
  // `history` is a recorded one of the case's calls, or unanswered(). Borrows both.
  Narrator(const Case& session, const History& history);

  // "getNext(A) -> 5 = p1".
  std::string call(uint32_t position) const;

  // All calls up to `last`, a line each; long runs of alike calls become one line. The call `last`
  // stands alone.
  std::vector<std::string> lines(uint32_t last) const;

  // "T1: b i(1,p1) g(1)=NF": up to `last`, with what the labels stand for where they are no
  // numbers. Empty where that would be long.
  std::string notation(uint32_t last) const;

 private:
  std::string handle(uint32_t position) const;
  std::string payload(uint64_t fingerprint) const;
  std::string answer(const Event& event) const;
  std::string token(uint32_t position) const;
  std::string label(const Event& event) const;
  bool alike(uint32_t a, uint32_t b) const;

  const History& history_;
  const std::vector<Event>& events_;
  std::vector<std::string> handles_;  // by event
  // Numbers of the payloads that were passed, by fingerprint, in the order of the calls.
  std::unordered_map<uint64_t, std::size_t> payloads_;
  std::vector<std::vector<uint64_t>> keys_;  // by index: those used, in order
};

}  // namespace keydrome::differential
