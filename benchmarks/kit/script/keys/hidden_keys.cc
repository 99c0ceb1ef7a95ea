// Implements hide_keys(). The word of a hidden get is computed from the record that the script
// inserts under its key, and hides the key of the thread's next hidden get.
#include "benchmarks/kit/script/keys/hidden_keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/hidden_key.h"
#include "benchmarks/kit/format/payload_tag.h"

namespace keydrome::script {
namespace {

using format::Op;
using format::OpCode;

bool is_hidden(const Op& op) {
  return op.code == OpCode::kGet && (op.flags & format::kHidden) != 0;
}

bool has_hidden_gets(const Script& script) {
  return std::ranges::any_of(script.phases, [](const PhaseScript& phase) {
    return std::ranges::any_of(phase.threads, [](const std::vector<Op>& ops) {
      return std::ranges::any_of(ops, is_hidden);
    });
  });
}

// The op that inserts a key, by number of the key. Null if no op has inserted the key, and
// &kChanged if other ops change its records, too. Aborted changes do not count.
using Inserts = std::vector<const Op*>;
constexpr Op kChanged;

// Checks that an earlier phase inserts the key of each hidden get of a thread.
void check_loaded(const std::vector<Op>& ops, const Inserts& inserts) {
  for (const Op& op : ops) KEYDROME_CHECK(!is_hidden(op) || inserts[op.key] != nullptr);
}

// Adds the inserts and deletes of a thread, except those of transactions that the program aborts.
void add_changes(const std::vector<Op>& ops, Inserts& inserts) {
  bool aborts = false;  // the open transaction ends with kAbort
  for (std::size_t at = 0; at < ops.size(); ++at) {
    const Op& op = ops[at];
    KEYDROME_CHECK(op.code != OpCode::kDeleteRead);
    if (op.code == OpCode::kBegin) aborts = ops[at + op.argument].code == OpCode::kAbort;
    if (op.code == OpCode::kAbort) aborts = false;
    const bool is_insert = op.code == OpCode::kInsert;
    const bool is_change =
        is_insert || op.code == OpCode::kDeleteKey || op.code == OpCode::kDeletePair;
    if (!is_change || (aborts && (op.flags & format::kAutoCommit) == 0)) continue;
    const Op*& insert = inserts[op.key];
    insert = is_insert && insert == nullptr ? &op : &kChanged;
  }
}

Inserts inserts_of(const Script& script) {
  Inserts inserts(script.pools.int64_keys.size());
  for (const PhaseScript& phase : script.phases) {
    for (const std::vector<Op>& ops : phase.threads) check_loaded(ops, inserts);
    for (const std::vector<Op>& ops : phase.threads) add_changes(ops, inserts);
  }
  return inserts;
}

// Returns the word of a get of the record that this op inserts. REQUIRES: the window lies inside
// the payload.
uint64_t word_of(const Script& script, const Op& insert, uint32_t window) {
  std::array<char, MAX_PAYLOAD_LEN + 1> payload{};
  format::write_tag(insert.argument, payload.data());
  const std::string_view text = script.pools.payloads[insert.payload];
  text.copy(payload.data() + format::kTagBytes, text.size());
  constexpr uint32_t kNoKey = 0;
  return format::record_word(payload.data(), window, &kNoKey);
}

// Sets the bits that hide the keys of a thread's hidden gets in one phase.
void hide_keys_of(const Script& script, const Inserts& inserts, std::vector<Op>& ops) {
  uint64_t word = 0;
  for (Op& op : ops) {
    if (!is_hidden(op)) continue;
    const Op& insert = *inserts[op.key];
    KEYDROME_CHECK(&insert != &kChanged);
    const std::size_t bytes = format::kTagBytes + script.pools.payloads[insert.payload].size();
    if (op.payload + sizeof(uint32_t) > bytes) op.payload = 0;
    op.argument = format::hiding_bits(word) & script.hidden_bits;
    word = word_of(script, insert, op.payload);
  }
}

}  // namespace

void hide_keys(Script& script) {
  if (!has_hidden_gets(script)) return;
  KEYDROME_CHECK(script.hidden_bits != 0 && script.pools.procedures.empty());
  KEYDROME_CHECK(script.indexes.size() == 1 && script.indexes[0].type == INT);
  const Inserts inserts = inserts_of(script);
  for (PhaseScript& phase : script.phases) {
    for (std::vector<Op>& ops : phase.threads) hide_keys_of(script, inserts, ops);
  }
}

}  // namespace keydrome::script
