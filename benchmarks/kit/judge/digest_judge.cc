// Implements judge_digests(): executes the checks of each thread on a model of the data and
// compares the digests (hashes of everything that was read).
#include "benchmarks/kit/judge/digest_judge.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/format/digest.h"
#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/evidence.h"

namespace keydrome::judge {
namespace {

using Place = std::pair<uint32_t, uint32_t>;    // index, rank
using Payloads = std::map<uint32_t, uint32_t>;  // tag -> text
using Model = std::map<Place, Payloads>;        // no empty entries

// Executes the checks of a thread's program on the model and computes the digest of their results.
class Replay {
 public:
  Replay(const script::Script& script, const KeyRanks& ranks, Model& model)
      : script_(script), ranks_(ranks), model_(model) {}

  // Returns false if a stripe or canary did not end as programmed. The state of its keys is then
  // unknown.
  bool run(std::span<const format::Op> ops, const script::ThreadResult& result) {
    bool known = true;
    format::walk_program(ops, [&](const format::Step& step) {
      if (!known) return;
      const format::Op& op = ops[step.op];
      if (op.code == format::OpCode::kOpen) slots_[op.slot] = op.argument;
      if (op.code == format::OpCode::kBegin) undo_.clear();
      if (step.kind == format::Kind::kStripe || step.kind == format::Kind::kCanary) {
        known = step.transaction == format::kNoTransaction ||
                ended_as_programmed(result, step.transaction);
        if (known && (op.flags & format::kDigest) != 0) apply(op);
      }
      if (op.code == format::OpCode::kAbort) roll_back();
      // The player ends a segment of its digest only after a transaction that ended as programmed.
      // The judge must do the same.
      const bool ends = op.code == format::OpCode::kAbort || op.code == format::OpCode::kCommit;
      if (ends && ended_as_programmed(result, step.transaction)) chain_segment();
    });
    chain_segment();
    return known;
  }

  uint64_t digest() { return total_.value(); }

 private:
  void apply(const format::Op& op) {
    const uint32_t index = slots_[op.slot];
    if (op.code == format::OpCode::kNext) return read_on(index, op.argument);
    const Place place{index, ranks_.rank(script_.indexes[index].type, op.key)};
    const auto entry = model_.find(place);
    switch (op.code) {
      case format::OpCode::kGet:
        return start_read(place);
      case format::OpCode::kInsert: {
        const bool there = entry != model_.end() && entry->second.contains(op.argument);
        if (!there) remember(place)[op.argument] = op.payload;
        return segment_.start_group(format::digest_item(there ? ENTRY_EXISTS : SUCCESS, {}, {}));
      }
      case format::OpCode::kDeletePair: {
        const bool there = entry != model_.end() && entry->second.contains(op.argument);
        if (there) remember(place).erase(op.argument);
        drop_if_empty(place);
        return segment_.start_group(format::digest_item(there ? SUCCESS : KEY_NOTFOUND, {}, {}));
      }
      case format::OpCode::kDeleteKey: {
        const bool there = entry != model_.end();
        if (there) remember(place).clear();
        drop_if_empty(place);
        return segment_.start_group(format::digest_item(there ? SUCCESS : KEY_NOTFOUND, {}, {}));
      }
      default:
        fail(KEYDROME_HERE, "the script builder must not set kDigest for this kind of op");
    }
  }

  // Models a get. The get may return any payload of the key, and the getNext calls after the get
  // return the other payloads. So only the sum over all payloads is known. Therefore every check
  // reads all payloads of a key.
  void start_read(Place place) {
    at_ = model_.lower_bound(place);
    if (at_ == model_.end() || at_->first != place) {
      segment_.start_group(format::digest_item(KEY_NOTFOUND, {}, {}));
      left_ = at_ == model_.end() ? 0 : at_->second.size();
      return;
    }
    segment_.start_group(0);
    left_ = at_->second.size();
    read_on(place.first, 1);
  }

  // Models `count` getNext calls.
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

  // Adds all payloads of the current key. The getNext calls that follow must read all of them.
  void add_key(uint32_t index) {
    const std::string_view key = ranks_.bytes(script_.indexes[index].type, at_->first.second);
    for (const auto& [tag, text] : at_->second) {
      std::string payload(format::kTagBytes, 0);
      format::write_tag(tag, payload.data());
      payload += script_.pools.payloads[text];
      segment_.add(format::digest_item(SUCCESS, key, payload));
    }
  }

  // Returns the payloads of a key for a change, and saves their old state for roll_back().
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
    segment_ = format::Digest();
  }

  const script::Script& script_;
  const KeyRanks& ranks_;
  Model& model_;
  std::vector<std::pair<Place, Payloads>> undo_;
  std::array<uint32_t, format::kSlots> slots_{};
  Model::const_iterator at_;
  std::size_t left_ = 0;  // payloads of the current key that have not been returned
  format::Digest total_, segment_;
};

}  // namespace

void judge_digests(const script::Script& script, const KeyRanks& ranks,
                   const script::Outcome& outcome, Findings& findings) {
  Model model;
  std::set<std::size_t> unknown;
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    const script::PhaseScript& phase = script.phases[p];
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      if (unknown.contains(t)) continue;
      const script::ThreadResult& result = outcome.phases[p].threads[t];
      Replay replay(script, ranks, model);
      if (!replay.run(phase.threads[t], result)) {
        unknown.insert(t);
      } else if (replay.digest() != result.counters->digest) {
        findings.required("wrong_digest",
                          "phase " + phase.name + ", thread " + std::to_string(t) +
                              ": reads of keys that only this thread uses did not return what the "
                              "thread had stored. A write was lost or changed, a deleted record "
                              "came back, or a scan left out a record");
      }
    }
  }
}

}  // namespace keydrome::judge
