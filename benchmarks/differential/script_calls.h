// Calls as a script that a player can play: one thread, every call recorded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/differential/calls.h"
#include "benchmarks/kit/script_builder.h"

namespace keydrome::differential {

// Writes the phases of one script. Borrows both.
class CallWriter {
 public:
  CallWriter(const Case& session, ScriptBuilder& script);

  // Appends a phase that makes the calls, which are playable().
  void phase(std::string name, std::span<const Call> calls);

 private:
  void write(ThreadBuilder& thread, const Call& call);
  uint32_t pool_key(const Call& call);

  const Case& session_;
  ScriptBuilder& script_;
  uint32_t class_;
  std::vector<uint32_t> pool_keys_;   // by key: its number in the pool + 1
  std::vector<uint32_t> pool_texts_;  // by text
  std::vector<bool> created_;         // by index
  std::vector<bool> open_;            // by slot
};

// A script of one phase. Its indexes have the numbers and names of the case.
Script script_of(const Case& session);

}  // namespace keydrome::differential
