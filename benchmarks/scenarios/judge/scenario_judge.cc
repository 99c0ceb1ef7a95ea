// Implements the judge of a scenario, a short script of API calls that is run many times: splits
// its log into runs, judges each run, and describes the first violation of each kind.
#include "benchmarks/scenarios/judge/scenario_judge.h"

#include <string>

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/scenarios/judge/c_program.h"
#include "benchmarks/scenarios/judge/narration.h"

namespace keydrome::scenarios {

namespace {

constexpr std::size_t kSummaryMax = 900;           // report.v1.schema.json allows 1,000 characters
constexpr std::size_t kProgramBytesMax = 200'000;  // limit of the same schema

// Reports a transaction or call that received DEADLOCK in every attempt, until its retry budget was
// spent (kit/player/retry_budget.h).
void judge_progress(const script::PhaseOutcome& outcome, const Scenario& scenario,
                    const std::string& title, FindingBook& book) {
  for (const script::ThreadResult& thread : outcome.threads) {
    const format::ThreadOutcome& reported = *thread.reported;
    if (reported.code_violations == 0 || reported.first_violation.code != format::kCodeNoProgress)
      continue;
    book.add(scenario.id,
             {.suite = "",
              .name = "no_progress",
              .severity = scenario.severity,
              .detail = title + judge::no_progress_text(reported.first_violation.detail, "")});
  }
}

}  // namespace

void judge_scenario(const PlannedScenario& planned, const ScriptedScenario& scripted,
                    const script::PhaseOutcome& outcome, FindingBook& book) {
  const Scenario& scenario = planned.scenario;
  const std::string title = scenario.id + ", " + scenario.title + ": ";
  judge_progress(outcome, scenario, title, book);
  const RunLogs logs = split_logs(planned, scripted, outcome);
  for (std::size_t i = 0; i < logs.runs.size(); ++i) {
    const Variant& variant = planned.variants[i];
    const Vocabulary& vocabulary = scripted.runs[i].vocabulary;
    for (const RunViolation& violation :
         judge_run(scenario, variant, scripted.runs[i], logs.runs[i])) {
      if (book.knows(violation.name, scenario.id)) continue;
      Json witness = violation.witness;
      witness["summary"] = (title + violation.rule).substr(0, kSummaryMax);
      const std::string program =
          c_program(scenario, variant, scripted.runs[i], logs.runs[i], violation);
      std::string detail = title + violation.rule;
      if (violation.shows_calls) {
        detail.append("\n").append(scenario.about).append("\n");
        detail.append(legend(scenario, variant, vocabulary)).append("\n");
        detail.append(narrate(scenario, variant, vocabulary, logs.runs[i]));
      }
      // Omits the program if it is longer than the report's schema allows.
      const bool readable = program.size() <= kProgramBytesMax;
      if (!program.empty() && readable) witness["program"] = program;
      book.add(scenario.id, {.suite = "",
                             .name = violation.name,
                             .severity = violation.severity,
                             .detail = std::move(detail),
                             .witness = std::move(witness)});
    }
  }
  if (logs.overflow) book.not_judged(title + logs.problem);
  if (logs.problem.empty() || logs.overflow) return;
  book.add(scenario.id, {.suite = "",
                         .name = "outcome_mismatch",
                         .severity = Severity::kRequired,
                         .detail = title + logs.problem});
}

}  // namespace keydrome::scenarios
