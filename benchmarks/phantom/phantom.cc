// The contest's phantom test (README.md).
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace phantom {
namespace {

constexpr uint8_t kSlot = 0;
constexpr uint32_t kReader = 0, kWriter = 1;
constexpr uint32_t kFirstPassDone = 0, kWritten = 1;  // events
// A fast library's reader would be through before the writer is scheduled. Where the writer has to
// wait for the reader, this time passes once.
constexpr uint32_t kChanceUs = 50'000;
constexpr uint32_t kScanPhase = 1;
constexpr uint32_t kOldRecords = 2;

class Phantom : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t, const CheckPolicy&) override {
    const auto passes = static_cast<uint32_t>(parameters["passes"]);
    const auto inserts = static_cast<uint32_t>(parameters["inserts"]);
    ScriptBuilder script;
    const uint32_t check = script.add_class("check");
    const uint32_t index = script.add_index("phantom", VARCHAR);
    const uint32_t a = script.add_varchar_key("a"), b = script.add_varchar_key("b");
    const uint32_t c = script.add_varchar_key("c");
    const uint32_t one = script.add_text("1"), two = script.add_text("2");

    ThreadBuilder fill = script.thread(script.add_phase("create", 1, {}), 0);
    fill.create(index);
    fill.open(kSlot, index);
    fill.auto_commit_as(Kind::kScript, check);
    fill.insert(kSlot, a, script.new_payload(one));
    fill.insert(kSlot, c, script.new_payload(one));
    fill.close(kSlot);

    const uint32_t phase = script.add_phase("scan", 2, {.timed = true});
    KEYDROME_CHECK(phase == kScanPhase);
    ThreadBuilder reader = script.thread(phase, kReader);
    const uint32_t records_max = kOldRecords + inserts + 1;
    reader.open(kSlot, index);
    reader.begin(Kind::kScript, check);
    reader.get(kSlot, a, kEvidence | kDigest);
    reader.next_to_end(kSlot, records_max, kEvidenceAll | kDigest);
    reader.mark();
    reader.signal(kFirstPassDone);
    reader.yield(kWritten, 1, kChanceUs);
    const uint64_t pass = reader.size();
    reader.get(kSlot, a, kDigest);
    reader.next_to_end(kSlot, records_max, kDigest);
    reader.mark();
    reader.repeat(pass, passes - 2);
    reader.commit();
    reader.close(kSlot);

    ThreadBuilder writer = script.thread(phase, kWriter);
    writer.open(kSlot, index);
    writer.wait(kFirstPassDone, 1);
    writer.begin(Kind::kScript, check);
    for (uint32_t i = 0; i < inserts; ++i) writer.insert(kSlot, b, script.new_payload(two));
    writer.insert(kSlot, c, script.new_payload(two));
    writer.commit();
    writer.signal(kWritten);
    writer.close(kSlot);

    add_verify_phase(script, 1, check);
    return script.build();
  }

  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    judge_script(script, outcome, findings);
    if (outcome.phases.size() > kScanPhase) judge_passes(script, outcome, findings);
  }

 private:
  // All passes of the reader must show the same records: the old ones, or also all new ones when
  // the transaction began (or was retried) after the writer's commit.
  static void judge_passes(const Script& script, const Outcome& outcome, Findings& findings) {
    const std::vector<Op>& ops = script.phases[kScanPhase].threads[kReader];
    const ThreadResult& result = outcome.phases[kScanPhase].threads[kReader];
    std::size_t records_seen = 1, pass = 0;
    uint64_t first_digest = 0;
    bool told = false;
    for_each_evidence(ops, result, [&](const Step& step, std::span<const Evidence> evidence) {
      const OpCode code = ops[step.op].code;
      if (code == OpCode::kNextToEnd) records_seen += evidence.size() - 1;
      if (code != OpCode::kMark) return;
      if (pass == 0) first_digest = evidence[0].repetition;
      if (evidence[0].repetition != first_digest && !told) {
        told = true;
        findings.required("phantom",
                          "pass " + std::to_string(pass + 1) +
                              " of the reading transaction saw other records than its first pass");
      }
      ++pass;
    });
    std::size_t all = kOldRecords;
    for (const Op& op : script.phases[kScanPhase].threads[kWriter])
      all += op.code == OpCode::kInsert ? 1 : 0;
    if (pass > 0 && records_seen != kOldRecords && records_seen != all) {
      findings.required("torn_transaction", "the first pass saw " + std::to_string(records_seen) +
                                                " records: a part of the writer's transaction");
    }
  }
};

}  // namespace
}  // namespace phantom

std::unique_ptr<Workload> make_phantom(std::string_view) {
  return std::make_unique<phantom::Phantom>();
}

}  // namespace keydrome
