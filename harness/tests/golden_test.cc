// The examples in schema/examples are written again and compared: the form of plan and report
// cannot change unnoticed. After a change that is meant, KEYDROME_UPDATE_GOLDENS=1 writes them
// anew; review the difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/referee/plan.h"
#include "harness/referee/report.h"
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

// A thread that committed three transactions of the first class within 5 ms.
ThreadResult example_thread() {
  ThreadResult thread;
  thread.counters = std::make_unique<ThreadOutcome>();
  ThreadOutcome& counters = *thread.counters;
  counters.committed[0] = 3;
  counters.calls = 12;
  counters.deadlocks = 1;
  counters.gets = 4;
  counters.context_switches = 2;
  counters.get_hits = 1;
  counters.ended_ns = 4'900'000;
  counters.window_shift = kWindowShiftMin;
  counters.windows[0] = 2;
  counters.windows[60] = 1;
  counters.histogram[0][700] = 2;
  counters.histogram[0][710] = 1;
  thread.ends.assign(3, TransactionEnd::kCommitted);
  return thread;
}

Op make_op(OpCode code, uint32_t argument) {
  Op op{};
  op.code = code;
  op.argument = argument;
  return op;
}

Script example_script() {
  Script script;
  script.class_names = {"get"};
  PhaseScript phase;
  phase.name = "test";
  phase.timed = true;
  phase.threads.resize(1);
  for (int i = 0; i < 3; ++i) {
    phase.threads[0].push_back(make_op(OpCode::kBegin, 1));
    phase.threads[0].push_back(make_op(OpCode::kCommit, 0));
  }
  phase.trace_capacity_bytes = {0};
  script.phases.push_back(std::move(phase));
  return script;
}

RunFacts example_facts() {
  RunFacts facts;
  facts.stage = Stage::kComplete;
  PhaseFacts phase;
  phase.name = "test";
  phase.timed = true;
  phase.threads = 1;
  phase.wall_ns = 5'000'000;
  phase.cpu_us = 4'800;
  phase.player_ns = 4'900'000;
  facts.phases.push_back(phase);
  facts.outcome.phases.emplace_back();
  facts.outcome.phases[0].threads.push_back(example_thread());
  facts.jail.exited = true;
  facts.jail.exit_code = 0;
  facts.jail.meta = parse_meta(
      "level:full\nmechanisms:namespaces,seccomp\nmissing:\nstatus:killed\nwall_us:9000\n"
      "cpu_us:5200\nmemory_peak_bytes:1048576");
  facts.standard_output = "hello\n";
  return facts;
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
  const Findings findings(plan.benchmark);
  const RunFacts facts = example_facts();
  return make_report({plan,
                      {{"threads", 1}},
                      example_script(),
                      nullptr,
                      facts,
                      findings,
                      decide(facts, findings, plan.jail.require),
                      example_machine()});
}

Json failed_report(const Plan& plan) {
  RunFacts facts = example_facts();
  facts.stage = Stage::kPlaying;
  facts.stop = Stop::kViolation;
  facts.detail = "a message with a wrong nonce came in phase test";
  facts.phases.clear();
  facts.outcome.phases.clear();
  Findings findings(plan.benchmark);
  add_fact_findings(facts, findings);
  return make_report({plan,
                      {{"threads", 1}},
                      example_script(),
                      nullptr,
                      facts,
                      findings,
                      decide(facts, findings, plan.jail.require),
                      example_machine()});
}

void expect_golden(const Json& json, const std::string& example, const std::string& schema) {
  const std::string text = json.dump(2) + "\n";
  if (std::getenv("KEYDROME_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(kSchemas + "/examples/" + example) << text;
  }
  EXPECT_EQ(text, read_text("examples/" + example)) << "the form of " << example << " changed";
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

// The checker of the test itself: it must find what does not fit.
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
