// Tests that two JSON formats stay the same: the plan and the report. A plan is the input of the
// referee, the program that runs a benchmark, and a report is its output. The test generates plans
// and reports, and compares them with the files in harness/schema/examples. After an intended
// change, run the test with KEYDROME_UPDATE_GOLDENS=1, which writes new examples, and review the
// difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/referee/plan/plan.h"
#include "harness/referee/report/report.h"
#include "harness/tests/json_schema.h"

namespace keydrome {
namespace {

const std::string kSchemas = KEYDROME_SCHEMAS;

std::string read_text(const std::string& name) {
  std::ifstream file(kSchemas + "/" + name);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

Json read_json(const std::string& name) {
  Result<Json> json = Json::parse(read_text(name));
  EXPECT_TRUE(json.ok()) << (json ? "" : json.error().message);
  return json ? *json : Json();
}

Plan plan_of(const std::string& example) {
  Result<Plan> plan = parse_plan(read_json("examples/" + example));
  EXPECT_TRUE(plan.ok()) << (plan ? "" : plan.error().message);
  return plan ? *plan : Plan{};
}

// Returns a thread that committed three transactions of the first class within 5 ms.
script::ThreadResult example_thread() {
  script::ThreadResult thread;
  thread.reported = std::make_unique<format::ThreadOutcome>();
  thread.reported->deadlocks = 1;
  thread.reported->context_switches = 2;
  script::ThreadTotals& totals = thread.totals;
  totals.committed[0] = 3;
  totals.calls = 12;
  totals.gets = 4;
  totals.get_hits = 1;
  totals.windows[0] = 2;
  totals.windows[60] = 1;
  totals.latency[0].resize(script::kHistogramBuckets);
  totals.latency[0][700] = 2;
  totals.latency[0][710] = 1;
  thread.ends.assign(3, script::TransactionEnd::kCommitted);
  return thread;
}

format::Op make_op(format::OpCode code, uint32_t argument) {
  format::Op op{};
  op.code = code;
  op.argument = argument;
  return op;
}

script::Script example_script() {
  script::Script script;
  script.class_names = {"get"};
  script::PhaseScript phase;
  phase.name = "test";
  phase.timed = true;
  phase.threads.resize(1);
  for (int i = 0; i < 3; ++i) {
    phase.threads[0].push_back(make_op(format::OpCode::kBegin, 1));
    phase.threads[0].push_back(make_op(format::OpCode::kCommit, 0));
  }
  phase.trace_capacity_bytes = {0};
  script.phases.push_back(std::move(phase));
  return script;
}

SessionResult example_result() {
  SessionResult result;
  result.stage = Stage::kComplete;
  result.loading = {.wall_ns = 2'000'000, .cpu_us = 1'500, .memory_bytes = 262'144};
  PhaseResult phase;
  phase.name = "test";
  phase.timed = true;
  phase.pinned = true;
  phase.threads = 1;
  phase.wall_ns = 5'000'000;
  phase.cpu_us = 4'800;
  phase.player_ns = 4'900'000;
  phase.threads_used = ThreadUse{.living_us = 300, .library_us = 100, .library_threads = 1};
  phase.kernel_cpu_us = {{"khugepaged", 20}};
  result.phases.push_back(phase);
  result.outcome.phases.emplace_back();
  result.outcome.phases[0].threads.push_back(example_thread());
  result.jail.exited = true;
  result.jail.exit_code = 0;
  result.jail.meta = parse_meta(
      "level:full\nmechanisms:namespaces,seccomp\nmissing:\nstatus:killed\nwall_us:9000\n"
      "cpu_us:5200\nmemory_peak_bytes:1048576");
  result.standard_output = "hello\n";
  return result;
}

Json example_machine() {
  Json machine;
  machine["cpu"] = "Example Processor";
  machine["cores"] = 2;
  machine["load_1m"] = 0.25;
  machine["warnings"] = Json::Array{};
  return machine;
}

Json passed_report(const Plan& plan) {
  const judge::Findings findings(plan.benchmark);
  const SessionResult result = example_result();
  return make_report({plan,
                      {{"threads", 1}},
                      example_script(),
                      nullptr,
                      result,
                      findings,
                      decide(result, findings, plan.jail.require),
                      example_machine()});
}

Json failed_report(const Plan& plan) {
  SessionResult result = example_result();
  result.stage = Stage::kPlaying;
  result.stop = StopReason::kViolation;
  result.detail = "a message with a wrong nonce arrived in phase \"test\"";
  result.phases.clear();
  result.outcome.phases.clear();
  judge::Findings findings(plan.benchmark);
  add_session_findings({}, result, findings);
  return make_report({plan,
                      {{"threads", 1}},
                      example_script(),
                      nullptr,
                      result,
                      findings,
                      decide(result, findings, plan.jail.require),
                      example_machine()});
}

void expect_golden(const Json& json, const std::string& example, const std::string& schema) {
  const std::string text = json.dump(2) + "\n";
  if (std::getenv("KEYDROME_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(kSchemas + "/examples/" + example) << text;
  }
  EXPECT_EQ(text, read_text("examples/" + example))
      << "the JSON of " << example
      << " changed: if this is intended, run the test with KEYDROME_UPDATE_GOLDENS=1";
  EXPECT_EQ(schema_error(read_json(schema), json), "") << example;
}

TEST(Golden, PlansKeepTheirForm) {
  for (const char* example : {"plan.library.json", "plan.structure.json"}) {
    expect_golden(to_json(plan_of(example)), example, "plan.v1.schema.json");
  }
}

TEST(Golden, ReportsKeepTheirForm) {
  expect_golden(passed_report(plan_of("plan.library.json")), "report.passed.json",
                "report.v1.schema.json");
  expect_golden(failed_report(plan_of("plan.structure.json")), "report.failed.json",
                "report.v1.schema.json");
}

// Tests the validator itself: it must reject JSON that violates the schema.
TEST(Golden, TheSchemasRejectWhatDoesNotFit) {
  const Json schema = read_json("report.v1.schema.json");
  const Json good = passed_report(plan_of("plan.library.json"));
  Json wrong = good;
  wrong["verdict"] = "excellent";
  EXPECT_NE(schema_error(schema, wrong), "");
  wrong = good;
  wrong["surprise"] = 1;
  EXPECT_NE(schema_error(schema, wrong), "");
  wrong = good;
  wrong["metrics"]["total_ms"] = "fast";
  EXPECT_NE(schema_error(schema, wrong), "");
  wrong = good;
  wrong["phases"].push_back(Json::Object{{"name", "x"}, {"timed", true}, {"wall_ns", -1}});
  EXPECT_NE(schema_error(schema, wrong), "");
  Json::Object without = good.as_object();
  without.erase("jail");
  EXPECT_NE(schema_error(schema, without), "");
  const Json plan_schema = read_json("plan.v1.schema.json");
  Json plan = read_json("examples/plan.library.json");
  plan["seed"] = "XYZ";
  EXPECT_NE(schema_error(plan_schema, plan), "");
}

}  // namespace
}  // namespace keydrome
