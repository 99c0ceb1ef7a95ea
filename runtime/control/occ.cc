#include "runtime/control/occ.h"

#include <atomic>

#include "runtime/control/mutant.h"

namespace keydrome::runtime {

// Versions are sequentially consistent: the proof in the header orders those of different indexes.
struct Occ::Versioned final : Content {
  explicit Versioned(LatchKind kind) : Content(kind) {}
  std::atomic<uint64_t> version = 0;
};

std::unique_ptr<IndexControl> Occ::make_index_control() {
  return std::make_unique<Versioned>(latch_);
}

std::unique_ptr<ControlSession> Occ::make_session() {
  return std::make_unique<SessionOf<Running>>();
}

void Occ::first_use(const Running&, Use& use) {
  use.version = static_cast<Versioned&>(use.index->control()).version;
}

int Occ::next_committed(const Running*, Index& index, KeydromePosition& position, Pair& pair) {
  return read_next(index.store(), position, pair);
}

bool Occ::unchanged(const Running& transaction, const Use& use) const {
  if (mutant(32) && use.version % 2 == 0) return true;
  const uint64_t now = static_cast<Versioned&>(use.index->control()).version;
  constexpr uint64_t kEpoch = 16;  // eight commits
  if (mutant(34) && !transaction.writes()) return now / kEpoch == use.version / kEpoch;
  return use.version % 2 == 0 && now == use.version;
}

ErrCode Occ::commit_reads(Running& transaction) {
  return mutant(14) ? SUCCESS : check_reads(transaction);
}

ErrCode Occ::check_reads(Running& transaction) {
  bool all_unchanged = true;
  for (size_t at = 0; at < transaction.used; ++at) {
    all_unchanged = all_unchanged && unchanged(transaction, *transaction.uses[at]);
  }
  if (all_unchanged) return SUCCESS;
  const ReadLatch together(section_);
  ++sections_;
  const ErrCode code = validate(transaction);
  if (code != SUCCESS) return code;
  // No commit is under way: from here on these versions stand for what was read.
  for (size_t at = 0; at < transaction.used; ++at) first_use(transaction, *transaction.uses[at]);
  return SUCCESS;
}

ErrCode Occ::install(Running& transaction) {
  const auto step_versions = [&] {
    for (size_t at = 0; at < transaction.used; ++at) {
      const Use& use = *transaction.uses[at];
      if (!use.overlay.empty()) ++static_cast<Versioned&>(use.index->control()).version;
    }
  };
  step_versions();  // odd
  bool complete = true;
  for (size_t at = 0; complete && at < transaction.used; ++at) {
    const Use& use = *transaction.uses[at];
    if (use.overlay.empty()) continue;
    const WriteLatch latch(content_of(*use.index).latch);
    complete = use.overlay.for_each([&](const Overlay::Name& name, bool inserted) {
      if (inserted && mutant_strikes<18>(2000)) return true;
      return change(undo_, *use.index, inserted, name.key_bytes(), name.payload_bytes()) == SUCCESS;
    });
  }
  if (!complete) undo_to(undo_, 0);
  step_versions();  // even
  undo_.clear();
  return complete ? SUCCESS : FAILURE;
}

}  // namespace keydrome::runtime
