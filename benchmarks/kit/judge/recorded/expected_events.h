// ExpectedEvents: computes, for each call of a script, the key and the hash of the payload that the
// log of a recorded phase must contain. In a recorded phase, the player, the process that calls the
// library, logs every call. The judge of logs (log_judge.h) compares the logs with these values.
//
// Thread safety: immutable after construction. The constructor hashes every string key once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

class ExpectedEvents {
 public:
  explicit ExpectedEvents(const script::Script& script) : script_(script) {
    for (const std::string_view key : script.pools.varchar_keys)
      varchar_.push_back(hash_bytes(key));
  }

  // Returns the value of the key of an op (operation) in a log: the number, or the hash of a
  // string.
  uint64_t key(const format::Op& op, uint32_t index) const {
    switch (script_.indexes[index].type) {
      case SHORT:
        return static_cast<uint64_t>(int64_t{script_.pools.int32_keys[op.key]});
      case INT:
        return static_cast<uint64_t>(script_.pools.int64_keys[op.key]);
      default:
        return varchar_[op.key];
    }
  }

  // Returns true if the op's payload is empty. A delete with an empty payload removes all payloads
  // of the key.
  bool is_empty(const format::Op& op) const {
    return op.argument == format::kNoTag && script_.pools.payloads[op.payload].empty();
  }

  // Returns true if the procedure (list of instructions) that a kRun op executes may roll its
  // transaction back.
  bool may_roll_back(const format::Op& run) const {
    return script_.pools.procedures[run.payload].rolls_back != 0;
  }

  // Returns the hash of the op's payload: its tag (a unique number) in letters, then its text.
  uint64_t payload(const format::Op& op) const {
    const std::string_view text = script_.pools.payloads[op.payload];
    if (op.argument == format::kNoTag) return hash_bytes(text);
    std::string tag(format::kTagBytes, '\0');
    format::write_tag(op.argument, tag.data());
    return hash_bytes(tag.append(text));
  }

 private:
  const script::Script& script_;
  std::vector<uint64_t> varchar_;
};

}  // namespace keydrome::judge
