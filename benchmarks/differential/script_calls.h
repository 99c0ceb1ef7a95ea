// Converts the random calls of one thread (a session of the benchmark `differential`) into a script
// for the player, the process that calls the library. The script has one thread, and the player
// records each of its calls.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/differential/calls.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::differential {

// Writes the phases of one script. Both constructor arguments must outlive the writer.
class CallWriter {
 public:
  CallWriter(const Case& session, script::ScriptBuilder& script);

  // Appends a phase that makes `calls`. REQUIRES: a client can make all of them (playable() in
  // calls.h); for example, there is no commit without a begin.
  void phase(std::string name, std::span<const Call> calls);

 private:
  void write(script::ThreadBuilder& thread, const Call& call);
  uint32_t pool_key(const Call& call);
  bool reuses(uint32_t index) const {
    return index < session_.reuses.size() && session_.reuses[index];
  }

  const Case& session_;
  script::ScriptBuilder& script_;
  uint32_t class_;
  std::vector<uint32_t> pool_keys_;   // by key: its number in the script + 1; 0: not yet added
  std::vector<uint32_t> pool_texts_;  // by text: its number in the script
  std::vector<bool> created_;         // by index: true if it was created
  std::vector<bool> open_;  // by slot (variable of the player): true if it has an open handle
};

// Returns a script of one phase with all calls of the session. Index number i of the script is
// session.indexes[i].
script::Script script_of(const Case& session);

}  // namespace keydrome::differential
