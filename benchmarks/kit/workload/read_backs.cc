// Implements the read-backs: extra transactions in which a thread reads keys that it has written.
// Walks through the program of each thread, collects keys, and inserts reads where they are due. A
// read is *known* if the judge knows its right result exactly.
#include "benchmarks/kit/workload/read_backs.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "benchmarks/kit/workload/phase_keys.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::workload {
namespace {

constexpr uint64_t kPart = 100;  // one in this many reads of a thread is a read-back
// A thread needs this many known reads, but no more than one in kKnownPartMax of its reads. A phase
// needs this many closing reads (read-backs at its end), but no more than one in kClosingPartMax of
// its calls. Long programs need more: one known read per kPart reads, and one closing read per
// kPart calls.
constexpr uint64_t kKnownReads = 1'000;
constexpr uint64_t kKnownPartMax = 10;
constexpr uint64_t kClosingPartMax = 20;
constexpr uint64_t kClosingScans = 16;           // scans of all threads at the end of a phase
constexpr uint64_t kRecentCalls = 64;            // a write is recent for this many calls
constexpr uint64_t kCallsPerScan = 1'000;        // a thread makes one scan in this many calls
constexpr uint32_t kScanMin = 8, kScanMax = 24;  // getNext calls of a scan
constexpr uint64_t kGetsMin = 8, kGetsMax = 16;  // gets of one read-back transaction
constexpr uint64_t kSampleMin = 64;              // a sample has room for this many keys or more

// A key that a thread uses, and how many calls the thread has made by then.
struct Use {
  uint32_t index = 0, key = 0;
  uint64_t call = 0;
};

// A nearly uniform sample of a sequence of unknown length. When the sample is full, it skips a
// random count of uses after each use that it considers. So it draws no random number for most uses
// (similar to J. Vitter's algorithm X, 1985).
class Sample {
 public:
  explicit Sample(std::size_t size_max = 0) : size_max_(size_max) {}

  // Offers the next use. Stores the use if its turn has come and accepts() returns true.
  template <typename Accepts>
  void offer(const Use& use, Rng& rng, Accepts&& accepts) {
    if (++seen_ < next_) return;
    if (seen_ >= size_max_) next_ = seen_ + 1 + rng.below(2 * seen_ / size_max_);
    if (!accepts()) return;
    if (uses_.size() < size_max_) {
      uses_.push_back(use);
    } else {
      uses_[rng.below(size_max_)] = use;
    }
  }
  bool empty() const { return uses_.empty(); }
  std::size_t size() const { return uses_.size(); }
  const Use& pick(Rng& rng) const { return uses_[rng.below(uses_.size())]; }
  // Returns a random use that has not been taken yet. After all have been taken, begins again.
  const Use& take(Rng& rng) {
    if (taken_ == uses_.size()) taken_ = 0;
    std::swap(uses_[taken_], uses_[taken_ + rng.below(uses_.size() - taken_)]);
    return uses_[taken_++];
  }

 private:
  std::size_t size_max_;
  uint64_t seen_ = 0, next_ = 0;  // number of uses so far, and number of the next one to store
  std::size_t taken_ = 0;
  std::vector<Use> uses_;
};

uint64_t size_of(const std::vector<Sample>& samples) {
  uint64_t size = 0;
  for (const Sample& sample : samples) size += sample.size();
  return size;
}

// The last writes of a thread.
class RecentWrites {
 public:
  void add(const Use& use) { uses_[count_++ % kRecentCalls] = use; }
  // Returns the writes in this index since call number `since`, the newest first.
  std::vector<Use> since(uint64_t since, uint32_t index) const {
    std::vector<Use> found;
    for (uint64_t back = 1; back <= std::min<uint64_t>(count_, kRecentCalls); ++back) {
      const Use& use = uses_[(count_ - back) % kRecentCalls];
      if (use.call < since) break;
      if (use.index == index) found.push_back(use);
    }
    return found;
  }

 private:
  std::array<Use, kRecentCalls> uses_{};
  uint64_t count_ = 0;
};

// Adds the read-backs of one thread in one phase.
class ThreadReadBacks {
 public:
  ThreadReadBacks(script::ScriptBuilder& script, uint32_t phase, uint32_t thread,
                  const PhaseKeys& keys, uint64_t seed, uint32_t class_number)
      : script_(script),
        phase_(phase),
        thread_(thread),
        class_(class_number),
        keys_(keys),
        work_(keys.threads()[thread]),
        ops_(script.phases()[phase].threads[thread]),
        follower_(ops_),
        rng_(hash_mix(seed, phase), thread, Purpose::kReadBacks),
        needed_(known_reads_needed(work_.reads)),
        closing_(closing_reads_needed(keys.calls(), work_.calls)),
        own_(script.index_count(), Sample(kSampleMin + 2 * closing_ / script.index_count())),
        fixed_(own_) {}

  void add() {
    for (uint64_t at = 0; at < ops_.size(); ++at) visit(at);
    constexpr uint64_t kOthers = 5;  // other ops of a closing transaction: open, begin, next, ...
    const uint64_t gets = closing_gets(), transactions = (gets + kGetsMax - 1) / kGetsMax;
    script_.insert_transactions(phase_, thread_, places_, inserted_, gets + kOthers * transactions);
    close();
  }

 private:
  void visit(uint64_t at) {
    const format::Op& op = ops_[at];
    follower_.follow(at);
    calls_ += calls_of(op, script_.pools());
    reads_ += reads_of(op);
    if (format::is_on_records(op.code)) {
      last_slot_ = op.slot;
      format::is_scan(op.code) ? scan(at) : use(op);
    }
    const bool alone = (op.flags & format::kAutoCommit) != 0 && !follower_.in_transaction();
    if (op.code == format::OpCode::kCommit || alone) insert_due(at);
  }

  // Notes a get, an insert or a delete.
  void use(const format::Op& op) {
    const Use use{.index = follower_.index(op.slot), .key = op.key, .call = calls_};
    last_use_ = use;
    if (op.code == format::OpCode::kGet) {
      const bool fixed = keys_.is_fixed(use.index, use.key);
      if (!fixed && !is_own(use)) return;
      ++known_;
      fixed_[use.index].offer(use, rng_, [&] { return fixed; });
    } else if (!follower_.aborts()) {
      recent_writes_.add(use);
      own_[use.index].offer(use, rng_, [&] { return is_own(use); });
    }
  }

  // Counts a get with kScanMin or more getNexts after it, unless the last scan had the same key.
  void scan(uint64_t at) {
    const format::Op& op = ops_[at];
    if (at == 0 || op.argument < kScanMin || ops_[at - 1].code != format::OpCode::kGet) return;
    const std::pair start(follower_.index(op.slot), ops_[at - 1].key);
    if (start != std::exchange(last_start_, start)) ++scans_;
  }

  bool is_own(const Use& use) const { return keys_.is_own(use.index, use.key, thread_); }

  // Inserts a transaction after op `at` if a scan is due, or if kGetsMin gets of recent writes and
  // of other keys together are due. After the program's last transaction, one due get is enough.
  void insert_due(uint64_t at) {
    const uint64_t half = reads_ / (2 * kPart), early = needed_ * reads_ / (work_.reads + 1);
    const bool scan_due = keys_.inserts() && scans_ < calls_ / kCallsPerScan;
    const uint64_t recent_due = half - std::min(half, recent_);
    const uint64_t older_due =
        std::max(half - std::min(half, older_), early - std::min(early, known_));
    const uint64_t least = at == work_.last_end ? 1 : kGetsMin;
    if (!scan_due && recent_due + older_due < least) return;
    if (!follower_.is_open(last_slot_)) return;
    const uint32_t index = follower_.index(last_slot_);
    const std::size_t first = inserted_.size();
    inserted_.push_back(
        {.code = format::OpCode::kBegin,
         .kind = static_cast<uint8_t>(static_cast<uint8_t>(format::Kind::kCanary) & 15u),
         .class_ = static_cast<uint8_t>(class_ & 15u)});
    get_recent(index, std::min(recent_due, kGetsMax));
    get_older(index, std::min(older_due, kGetsMax));
    if (scan_due) append_scan(index);
    if (inserted_.size() == first + 1) return inserted_.pop_back();
    inserted_.push_back({.code = format::OpCode::kCommit});
    inserted_[first].argument = static_cast<uint32_t>(inserted_.size() - 1 - first);
    calls_ += 2;
    places_.push_back({.before = at + 1, .first = first});
  }

  // Appends gets of keys that the thread wrote within its last kRecentCalls calls.
  void get_recent(uint32_t index, uint64_t count) {
    const uint64_t end = calls_ + 1 + count;  // calls after the begin and these gets
    const uint64_t since = end > kRecentCalls ? end - kRecentCalls : 0;
    std::vector<Use> uses = recent_writes_.since(since, index);
    std::erase_if(uses, [this](const Use& use) { return !is_own(use); });
    if (uses.empty()) return;
    for (uint64_t i = 0; i < count; ++i) append_get(uses[rng_.below(uses.size())].key);
    recent_ += count;
  }

  // Appends gets of keys that the thread wrote earlier, or else of keys that no thread writes.
  void get_older(uint32_t index, uint64_t count) {
    const Sample& sample = own_[index].empty() ? fixed_[index] : own_[index];
    if (sample.empty()) return;
    for (uint64_t i = 0; i < count; ++i) {
      const Use& use = sample.pick(rng_);
      if (use.call + kRecentCalls < calls_ && !own_[index].empty()) ++older_;
      append_get(use.key);
    }
  }

  void append_get(uint32_t key) {
    inserted_.push_back({.code = format::OpCode::kGet, .slot = last_slot_, .key = key});
    ++calls_;
    ++reads_;
    ++known_;
  }

  // Appends a scan. It starts at a key of the samples, or at the last key that the program used.
  void append_scan(uint32_t index) {
    const Sample& sample = own_[index].empty() ? fixed_[index] : own_[index];
    const bool used = last_use_.index == index;
    if (sample.empty() && !used) return;
    const bool last = sample.empty() || (used && rng_.below(4) == 0);
    const uint32_t key = last ? last_use_.key : sample.pick(rng_).key;
    const auto length = static_cast<uint32_t>(rng_.between(kScanMin, kScanMax));
    inserted_.push_back({.code = format::OpCode::kGet, .slot = last_slot_, .key = key});
    inserted_.push_back({.code = format::OpCode::kNext, .slot = last_slot_, .argument = length});
    calls_ += length + 1;
    reads_ += length + 1;
    ++scans_;
  }

  // Returns how many closing reads the thread makes.
  uint64_t closing_gets() const { return std::max(closing_, needed_ - std::min(needed_, known_)); }

  // Appends the closing reads to the end of the program.
  void close() {
    std::vector<Sample>& samples = size_of(own_) > 0 ? own_ : fixed_;
    if (size_of(samples) == 0) return;
    uint64_t left = closing_gets();
    const uint64_t threads = keys_.threads().size();
    uint64_t scans = (kClosingScans + threads - 1) / threads;
    script::ThreadBuilder out = script_.thread(phase_, thread_);
    while (left > 0) {
      const uint64_t count = std::min(left, kGetsMax);
      close_some(out, pick_sample(samples), count, scans > 0);
      left -= count;
      scans -= std::min<uint64_t>(scans, 1);
    }
  }

  void close_some(script::ThreadBuilder& out, Sample& sample, uint64_t count, bool scans) {
    out.unit_start();
    uint32_t key = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const Use& use = sample.take(rng_);
      if (i == 0) {
        out.open(0, use.index);
        out.begin(format::Kind::kCanary, class_);
      }
      key = use.key;
      out.get(0, key);
    }
    if (scans) out.next(0, static_cast<uint32_t>(rng_.between(kScanMin, kScanMax)));
    out.commit();
    out.close(0);
  }

  // Chooses an index at random, in proportion to its sampled keys.
  Sample& pick_sample(std::vector<Sample>& samples) {
    uint64_t place = rng_.below(size_of(samples));
    for (Sample& sample : samples) {
      if (place < sample.size()) return sample;
      place -= sample.size();
    }
    fail(KEYDROME_HERE, "a read of earlier records was added to a phase without such records");
  }

  script::ScriptBuilder& script_;
  const uint32_t phase_, thread_, class_;
  const PhaseKeys& keys_;
  const ThreadWork work_;
  const std::vector<format::Op>& ops_;
  OpFollower follower_;
  Rng rng_;
  const uint64_t needed_, closing_;
  std::vector<Sample> own_, fixed_;  // by index: own keys and fixed keys (phase_keys.h)
  RecentWrites recent_writes_;
  uint8_t last_slot_ = 0;              // slot (handle) of the last call on records
  Use last_use_{.index = UINT32_MAX};  // key of the last get, insert or delete
  std::pair<uint32_t, uint32_t> last_start_{UINT32_MAX, UINT32_MAX};
  // Counts so far, with the read-backs. recent_ and older_ count only read-backs of written keys.
  uint64_t calls_ = 0, reads_ = 0, known_ = 0, recent_ = 0, older_ = 0, scans_ = 0;
  std::vector<script::ScriptBuilder::Insertion> places_;
  std::vector<format::Op> inserted_;
};

}  // namespace

uint64_t known_reads_needed(uint64_t reads) {
  return std::max(reads / kPart, std::min(kKnownReads, reads / kKnownPartMax));
}

uint64_t closing_reads_needed(uint64_t phase_calls, uint64_t thread_calls) {
  if (phase_calls == 0) return 0;
  const uint64_t least = std::min(kKnownReads, phase_calls / kClosingPartMax);
  return std::max(thread_calls / kPart, (least * thread_calls + phase_calls - 1) / phase_calls);
}

void add_read_backs(script::ScriptBuilder& script, uint64_t seed, uint32_t class_number) {
  const std::vector<bool> computed =
      computed_indexes(script.pools(), script.phases(), script.index_count());
  for (uint32_t phase = 0; phase < script.phases().size(); ++phase) {
    if (!script.phases()[phase].timed) continue;
    const PhaseKeys keys(script, phase, computed);
    if (!keys.writes()) continue;
    for (uint32_t thread = 0; thread < keys.threads().size(); ++thread) {
      ThreadReadBacks(script, phase, thread, keys, seed, class_number).add();
    }
  }
}

}  // namespace keydrome::workload
