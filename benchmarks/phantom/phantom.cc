// Generates and judges the operations of the benchmark "phantom", the phantom test of the SIGMOD
// contest of 2009: repeated scans must ignore another thread's inserts (README.md).
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/words.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace phantom {
namespace {

constexpr uint8_t kSlot = 0;
constexpr uint32_t kReader = 0, kWriter = 1;
constexpr uint32_t kFirstPassDone = 0, kWritten = 1;  // events that threads signal
// After its first pass, the reader waits at most this many microseconds for the writer's commit.
// Without the wait a fast reader would finish before the writer is scheduled. If the library makes
// the writer wait for the reader, the reader waits for the whole time.
constexpr uint32_t kWaitUs = 50'000;
constexpr uint32_t kFillPhase = 0, kScanPhase = 1;
constexpr uint32_t kOldRecords = 2;

// Writes the script. An object is used once.
class Generator {
 public:
  explicit Generator(const workload::Parameters& parameters)
      : passes_(parameters.u32("passes")), inserts_(parameters.u32("inserts")) {
    check_ = script_.add_class("check");
    index_ = script_.add_index("phantom", VARCHAR);
    a_ = script_.add_varchar_key("a");
    b_ = script_.add_varchar_key("b");
    c_ = script_.add_varchar_key("c");
    one_ = script_.add_text("1");
    two_ = script_.add_text("2");
  }

  script::Script write() {
    fill(script_.thread(script_.add_phase("create", 1, {}), 0));
    const uint32_t phase = script_.add_phase("scan", 2, {.timed = true});
    KEYDROME_CHECK(phase == kScanPhase);
    read(script_.thread(phase, kReader));
    insert(script_.thread(phase, kWriter));
    script::add_verify_phase(script_, 1, check_);
    return script_.build();
  }

 private:
  void fill(script::ThreadBuilder out) {
    out.create(index_);
    out.open(kSlot, index_);
    out.auto_commit_as(format::Kind::kScript, check_);
    out.insert(kSlot, a_, script_.new_payload(one_));
    out.insert(kSlot, c_, script_.new_payload(one_));
    out.close(kSlot);
  }

  // Reads the whole index `passes_` times in one transaction.
  void read(script::ThreadBuilder out) {
    const uint32_t records_max = kOldRecords + inserts_ + 1;
    out.open(kSlot, index_);
    out.begin(format::Kind::kScript, check_);
    out.get(kSlot, a_);
    out.next_to_end(kSlot, records_max);
    out.signal(kFirstPassDone);
    out.yield(kWritten, 1, kWaitUs);
    const uint64_t pass = out.size();
    out.get(kSlot, a_);
    out.next_to_end(kSlot, records_max);
    out.repeat(pass, passes_ - 2);
    out.commit();
    out.close(kSlot);
  }

  // Inserts into the range in one transaction, after the reader's first pass.
  void insert(script::ThreadBuilder out) {
    out.open(kSlot, index_);
    out.wait(kFirstPassDone, 1);
    out.begin(format::Kind::kScript, check_);
    for (uint32_t i = 0; i < inserts_; ++i) out.insert(kSlot, b_, script_.new_payload(two_));
    out.insert(kSlot, c_, script_.new_payload(two_));
    out.commit();
    out.signal(kWritten);
    out.close(kSlot);
  }

  uint32_t passes_, inserts_;
  script::ScriptBuilder script_;
  uint32_t check_ = 0, index_ = 0;
  uint32_t a_ = 0, b_ = 0, c_ = 0;  // keys
  uint32_t one_ = 0, two_ = 0;      // texts
};

// Judges the passes of the reader, one after the other. All passes must show the same records: only
// the old records, or the old records and all new records. A reader may see the new records if it
// began, or was retried, after the writer's commit. Reports only the first fault, because it may
// explain all later differences.
class PassJudge {
 public:
  PassJudge(std::set<uint32_t> old_tags, std::set<uint32_t> new_tags, judge::Findings& findings)
      : old_(std::move(old_tags)), new_(std::move(new_tags)), findings_(findings) {}

  void pass(const std::vector<uint32_t>& records) {
    ++number_;
    const std::set<uint32_t> seen(records.begin(), records.end());
    if (reported_) return;
    if (seen.size() != records.size()) {
      return report("duplicate_record",
                    "the pass returned one record twice: each pass must return each record once");
    }
    if (!std::ranges::includes(seen, old_)) {
      return report("missing_record",
                    "the pass did not return a record that was inserted before this transaction "
                    "began and that no transaction deleted");
    }
    std::set<uint32_t> written;
    std::ranges::set_intersection(seen, new_, std::inserter(written, written.end()));
    if (number_ == 1) return first_pass(std::move(written));
    if (!std::ranges::includes(first_, written)) {
      return report("phantom",
                    "the pass returned a record that the first pass had not returned: all passes "
                    "must return the same records");
    }
    if (written != first_) {
      report("non_repeatable_read",
             "the pass did not return a record that the first pass had returned: all passes must "
             "return the same records");
    }
  }

 private:
  void first_pass(std::set<uint32_t> written) {
    first_ = std::move(written);
    if (first_.empty() || first_ == new_) return;
    report("torn_transaction", "the pass returned " + std::to_string(first_.size()) + " of the " +
                                   std::to_string(new_.size()) +
                                   " records that the writing transaction inserted: it must return "
                                   "all of them or none");
  }

  void report(const char* name, const std::string& what) {
    reported_ = true;
    findings_.required(name,
                       "pass " + std::to_string(number_) +
                           " of a transaction that reads the whole index several times: " + what);
  }

  // The loaded records and the writer's records, as the tags (unique numbers) of their payloads.
  const std::set<uint32_t> old_, new_;
  judge::Findings& findings_;
  std::size_t number_ = 0;
  std::set<uint32_t> first_;  // the writer's records that the first pass returned
  bool reported_ = false;
};

class Phantom : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    workload::Demand demand(2);
    demand.add_transactions(
        1, parameters.number("passes"),
        parameters.number("passes") * (parameters.number("inserts") + kOldRecords));
    demand.add_transactions(parameters.number("inserts"), 1);
    demand.add_inserts(parameters.number("inserts"), 16);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t /*seed*/,
                                  const workload::CheckPolicy& /*policy*/) override {
    return Generator(parameters).write();
  }

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_script(script, outcome, findings);
    if (outcome.phases.size() > kScanPhase) judge_passes(script, outcome, findings);
  }

 private:
  static void judge_passes(const script::Script& script, const script::Outcome& outcome,
                           judge::Findings& findings) {
    const std::vector<format::Op>& ops = script.phases[kScanPhase].threads[kReader];
    const script::ThreadResult& result = outcome.phases[kScanPhase].threads[kReader];
    PassJudge judge(tags_of(script.phases[kFillPhase].threads[0]),
                    tags_of(script.phases[kScanPhase].threads[kWriter]), findings);
    std::vector<uint32_t> records;
    judge::for_each_words(ops, result,
                          [&](const format::Step& step, std::span<const uint64_t> words,
                              std::span<const uint64_t> /*rest*/) -> uint64_t {
                            if (ops[step.op].code == format::OpCode::kGet) records.clear();
                            for (const uint64_t word : words) {
                              if (format::code_of_word(word) == SUCCESS)
                                records.push_back(format::tag_of_word(word));
                            }
                            if (ops[step.op].code == format::OpCode::kNextToEnd)
                              judge.pass(records);
                            return 0;
                          });
  }

  static std::set<uint32_t> tags_of(const std::vector<format::Op>& ops) {
    std::set<uint32_t> tags;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kInsert) tags.insert(op.argument);
    }
    return tags;
  }
};

}  // namespace
}  // namespace phantom

std::unique_ptr<workload::Workload> make_phantom(std::string_view) {
  return std::make_unique<phantom::Phantom>();
}

}  // namespace keydrome
