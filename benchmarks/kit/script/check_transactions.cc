// Implements the functions of ScriptBuilder that serve checks. They append the final scan of all
// records, insert transactions between others, and check what a repeated body may contain.
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/check.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::script {

void add_verify_phase(ScriptBuilder& script, uint32_t threads, uint32_t class_number,
                      std::string name) {
  threads = std::max(1u, std::min(threads, script.index_count()));
  const uint32_t phase =
      script.add_phase(std::move(name), threads, {.timed = false, .verifies = true});
  for (uint32_t index = 0; index < script.index_count(); ++index) {
    ThreadBuilder thread = script.thread(phase, index % threads);
    thread.unit_start();
    thread.open(0, index);
    thread.begin(format::Kind::kScript, class_number);
    thread.next_to_end(0, script.inserts(index), format::kEvidenceAll);
    thread.commit();
    thread.close(0);
  }
}

void ScriptBuilder::insert_transactions(uint32_t phase, uint32_t thread,
                                        std::span<const Insertion> places,
                                        std::span<const format::Op> transactions, uint64_t more) {
  std::vector<format::Op>& ops = script_.phases.at(phase).threads.at(thread);
  const auto repeats = [](const format::Op& op) { return op.code == format::OpCode::kRepeat; };
  KEYDROME_CHECK(places.empty() || std::none_of(ops.begin(), ops.end(), repeats));
  auto old_end = static_cast<std::ptrdiff_t>(ops.size());
  ops.reserve(ops.size() + transactions.size() + more);
  ops.resize(ops.size() + transactions.size());
  auto end = ops.end();
  auto left = transactions.end();
  // Insert at the last place first, so that every op moves only once.
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    const auto before = static_cast<std::ptrdiff_t>(place->before);
    KEYDROME_CHECK(before <= old_end);
    end = std::move_backward(ops.begin() + before, ops.begin() + old_end, end);
    const auto first = transactions.begin() + static_cast<std::ptrdiff_t>(place->first);
    end = std::copy_backward(first, left, end);
    left = first;
    old_end = before;
  }
  KEYDROME_CHECK(left == transactions.begin());
}

// Checks the body of a kRepeat: the ops (operations) that a thread executes several times. Each
// pass must end in the state in which it began: with the same open handles, and in the same open
// transaction, if any. The reason is that the judges follow a program op by op and do not
// distinguish the passes.
void ThreadBuilder::check_body(uint64_t first) const {
  KEYDROME_CHECK(first < ops_->size());
  bool begun = false;
  std::array<bool, format::kSlots> opened{};
  for (const format::Op& op : std::span(*ops_).subspan(first)) {
    if (op.code == format::OpCode::kBegin) begun = true;
    if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort)
      KEYDROME_CHECK(begun);
    if (op.code == format::OpCode::kOpen) opened[op.slot] = true;
    if (op.code == format::OpCode::kClose) KEYDROME_CHECK(opened[op.slot]);
  }
  for (std::size_t slot = 0; slot < opened.size(); ++slot)
    KEYDROME_CHECK(!opened[slot] || state_->slots[slot] == 0);
  KEYDROME_CHECK(!in_transaction() || first > state_->begin_at);
}

}  // namespace keydrome::script
