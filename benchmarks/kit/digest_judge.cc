#include "benchmarks/kit/digest_judge.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/digest.h"
#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/payload_tag.h"

namespace keydrome {
namespace {

using Place = std::pair<uint32_t, uint32_t>;    // index, rank
using Payloads = std::map<uint32_t, uint32_t>;  // tag -> text
using Model = std::map<Place, Payloads>;        // no empty entries

// Replays a thread's program on the model and computes its digest.
class Replay {
 public:
  Replay(const Script& script, const KeyRanks& ranks, Model& model)
      : script_(script), ranks_(ranks), model_(model) {}

  // False when a transaction that counts did not end as programmed.
  bool run(std::span<const Op> ops, const ThreadResult& result) {
    bool known = true;
    walk_program(ops, [&](const Step& step) {
      if (!known) return;
      const Op& op = ops[step.op];
      if (op.code == OpCode::kOpen) slots_[op.slot] = op.argument;
      if (op.code == OpCode::kBegin) undo_.clear();
      if (step.kind == Kind::kStripe || step.kind == Kind::kCanary) {
        known = step.transaction == kNoTransaction || ended_as_programmed(result, step.transaction);
        if (known && (op.flags & kDigest) != 0) apply(op);
      }
      if (op.code == OpCode::kAbort) roll_back();
      // The player's digest goes on through a transaction that it had to give up.
      const bool ends = op.code == OpCode::kAbort || op.code == OpCode::kCommit;
      if (ends && ended_as_programmed(result, step.transaction)) chain_segment();
    });
    chain_segment();
    return known;
  }

  uint64_t digest() { return total_.value(); }

 private:
  void apply(const Op& op) {
    const uint32_t index = slots_[op.slot];
    if (op.code == OpCode::kNext) return read_on(index, op.argument);
    const Place place{index, ranks_.rank(script_.indexes[index].type, op.key)};
    const auto entry = model_.find(place);
    switch (op.code) {
      case OpCode::kGet:
        return start_read(place);
      case OpCode::kInsert: {
        const bool there = entry != model_.end() && entry->second.contains(op.argument);
        if (!there) remember(place)[op.argument] = op.payload;
        return segment_.start_group(digest_item(there ? ENTRY_EXISTS : SUCCESS, {}, {}));
      }
      case OpCode::kDeletePair: {
        const bool there = entry != model_.end() && entry->second.contains(op.argument);
        if (there) remember(place).erase(op.argument);
        drop_if_empty(place);
        return segment_.start_group(digest_item(there ? SUCCESS : KEY_NOTFOUND, {}, {}));
      }
      case OpCode::kDeleteKey: {
        const bool there = entry != model_.end();
        if (there) remember(place).clear();
        drop_if_empty(place);
        return segment_.start_group(digest_item(there ? SUCCESS : KEY_NOTFOUND, {}, {}));
      }
      default:
        fail(KEYDROME_HERE, "an op that has no digest");
    }
  }

  // A get gives one of the key's payloads and the getNext calls after it the others, so only the
  // sum of all counts: the builder reads whole keys.
  void start_read(Place place) {
    at_ = model_.lower_bound(place);
    if (at_ == model_.end() || at_->first != place) {
      segment_.start_group(digest_item(KEY_NOTFOUND, {}, {}));
      left_ = at_ == model_.end() ? 0 : at_->second.size();
      return;
    }
    segment_.start_group(0);
    left_ = at_->second.size();
    read_on(place.first, 1);
  }

  void read_on(uint32_t index, uint32_t count) {
    while (count > 0) {
      if (left_ == 0) {
        KEYDROME_CHECK(at_ != model_.end());
        ++at_;
        KEYDROME_CHECK(at_ != model_.end() && at_->first.first == index);
        left_ = at_->second.size();
      }
      if (left_ == at_->second.size()) add_key(index);
      const auto taken = static_cast<uint32_t>(std::min<std::size_t>(count, left_));
      left_ -= taken;
      count -= taken;
    }
  }

  // Adds all payloads of the current key; the getNext calls to come have to read them all.
  void add_key(uint32_t index) {
    const std::string_view key = ranks_.bytes(script_.indexes[index].type, at_->first.second);
    for (const auto& [tag, text] : at_->second) {
      std::string payload(kTagBytes, 0);
      write_tag(tag, payload.data());
      payload += script_.pools.payloads[text];
      segment_.add(digest_item(SUCCESS, key, payload));
    }
  }

  Payloads& remember(Place place) {
    Payloads& payloads = model_[place];
    undo_.emplace_back(place, payloads);
    return payloads;
  }

  void drop_if_empty(Place place) {
    const auto entry = model_.find(place);
    if (entry != model_.end() && entry->second.empty()) model_.erase(entry);
  }

  void roll_back() {
    for (auto change = undo_.rbegin(); change != undo_.rend(); ++change) {
      model_[change->first] = change->second;
      drop_if_empty(change->first);
    }
    undo_.clear();
  }

  void chain_segment() {
    if (segment_.empty()) return;
    total_.chain(segment_.value());
    segment_ = Digest();
  }

  const Script& script_;
  const KeyRanks& ranks_;
  Model& model_;
  std::vector<std::pair<Place, Payloads>> undo_;
  std::array<uint32_t, kSlots> slots_{};
  Model::const_iterator at_;
  std::size_t left_ = 0;
  Digest total_, segment_;
};

}  // namespace

void judge_digests(const Script& script, const KeyRanks& ranks, const Outcome& outcome,
                   Findings& findings) {
  Model model;
  std::set<std::size_t> unknown;
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    const PhaseScript& phase = script.phases[p];
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      if (unknown.contains(t)) continue;
      const ThreadResult& result = outcome.phases[p].threads[t];
      Replay replay(script, ranks, model);
      if (!replay.run(phase.threads[t], result)) {
        unknown.insert(t);
      } else if (replay.digest() != result.counters->digest) {
        findings.required("wrong_digest",
                          "phase " + phase.name + ", thread " + std::to_string(t) +
                              ": what the library answered on keys that only this thread uses "
                              "is not what it stored there (a write was lost or changed, "
                              "a deleted record came back, or a record was left out)");
      }
    }
  }
}

}  // namespace keydrome
