// Implements the concurrency control "occ": optimistic, with one version of the data.
//
// A read returns data that is committed at the moment of the read. Validation (families/buffered.h)
// checks that all reads of the transaction would still have the same results. An insertion or
// deletion also validates before it returns, if its result depends on committed data. Without this
// check, a deletion could report that a record is missing although the same transaction has read
// the record. A transaction that only reads may see inconsistent data before it fails.
//
// Validation usually needs no lock, because every index has a version number. Before a commit
// installs anything, it adds one to the versions of all indexes that it writes. After it has
// installed everything, it adds one again. A version is therefore odd while a commit installs.
//
// The reads are valid if every version is even and has not changed since the transaction began to
// read the index. Proof: consider the instant at which the transaction began to read the last
// of its indexes. At this instant every index was as the transaction read it, because no version
// has changed. No commit was half installed then, because a commit keeps the versions of all its
// indexes odd until its end.
//
// If a version is odd or has changed, the transaction enters the critical section, so that no other
// commit installs meanwhile, and repeats its reads there (families/buffered.h).
//
// A read takes the latch of its index even if the structure is thread-safe. Without it, a read
// could see a part of a commit, and report that a record is missing although every commit keeps it.
#include <atomic>
#include <memory>

#include "runtime/concurrency/families/buffered.h"
#include "runtime/concurrency/methods.h"

namespace keydrome::runtime {

namespace {

class Occ final : public Buffered {
 public:
  // `latch`: how reads latch the structure, kExclusive or kShared.
  explicit Occ(LatchKind latch) : latch_(latch) {}

  std::unique_ptr<IndexConcurrency> make_index_concurrency() override;
  std::unique_ptr<ClientConcurrency> make_client() override;

 private:
  struct Versioned;  // an index's IndexConcurrency

  void first_use(const Running& transaction, Use& use) override;
  bool sees(const Running*, Index&, KeydromeBytes, KeydromeBytes) const override { return true; }
  bool unchanged(const Running& transaction, const Use& use) const override;
  ErrCode commit_reads(Running& transaction) override;
  ErrCode check_reads(Running& transaction) override;
  ErrCode install(Running& transaction) override;

  const LatchKind latch_;
  UndoLog undo_;  // for the one commit that is inside the critical section
};

}  // namespace

// Accesses to versions are sequentially consistent, because the proof above needs one order of the
// accesses to all indexes.
struct Occ::Versioned final : Content {
  explicit Versioned(LatchKind kind) : Content(kind) {}
  std::atomic<uint64_t> version = 0;
};

std::unique_ptr<IndexConcurrency> Occ::make_index_concurrency() {
  return std::make_unique<Versioned>(latch_);
}

std::unique_ptr<ClientConcurrency> Occ::make_client() {
  return std::make_unique<ClientOf<Running>>();
}

void Occ::first_use(const Running&, Use& use) {
  use.version = static_cast<Versioned&>(use.index->concurrency()).version;
}

bool Occ::unchanged(const Running&, const Use& use) const {
  const uint64_t now = static_cast<Versioned&>(use.index->concurrency()).version;
  return use.version % 2 == 0 && now == use.version;
}

ErrCode Occ::commit_reads(Running& transaction) { return check_reads(transaction); }

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
  // No commit is installing now, so the reads are valid for the present versions. Store them.
  for (size_t at = 0; at < transaction.used; ++at) first_use(transaction, *transaction.uses[at]);
  return SUCCESS;
}

ErrCode Occ::install(Running& transaction) {
  const auto step_versions = [&] {
    for (size_t at = 0; at < transaction.used; ++at) {
      const Use& use = *transaction.uses[at];
      if (!use.overlay.empty()) ++static_cast<Versioned&>(use.index->concurrency()).version;
    }
  };
  step_versions();  // the versions are now odd
  bool complete = true;
  for (size_t at = 0; complete && at < transaction.used; ++at) {
    const Use& use = *transaction.uses[at];
    if (use.overlay.empty()) continue;
    const WriteLatch latch(content_of(*use.index).latch);
    complete = use.overlay.install(
        [&](const Overlay::StoredPair& pair, bool inserted) {
          return change(undo_, *use.index, inserted, pair.key_bytes(), pair.payload_bytes()) ==
                 SUCCESS;
        },
        [&](const Overlay::StoredPair& before, const Overlay::StoredPair& now) {
          return replace(undo_, *use.index, now.key_bytes(), before.payload_bytes(),
                         now.payload_bytes()) == SUCCESS;
        });
  }
  if (!complete) undo_to(undo_, 0);
  step_versions();  // the versions are even again
  undo_.clear();
  return complete ? SUCCESS : FAILURE;
}

ConcurrencyMethod occ_method() {
  return {"occ", true, true, true,
          [](const ConcurrencyOptions& options) -> std::unique_ptr<Concurrency> {
            return std::make_unique<Occ>(options.latch);
          }};
}

}  // namespace keydrome::runtime
