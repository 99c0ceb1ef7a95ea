#include "benchmarks/kit/tests/play.h"

#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/images.h"
#include "benchmarks/kit/recording.h"
#include "benchmarks/kit/session.h"

namespace keydrome::testing {
namespace {

// A zeroed image at a cache line's boundary, as a fresh memfd would be.
class Image {
 public:
  explicit Image(uint64_t size) : lines_((size + sizeof(Line) - 1) / sizeof(Line)), size_(size) {}
  std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(lines_.data()), size_}; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
  uint64_t size_;
};

std::vector<Op> ops_of(const std::vector<std::byte>& round, std::size_t thread) {
  RoundHeader header{};
  std::memcpy(&header, round.data(), sizeof header);
  std::vector<Op> ops(header.spans[thread].count);
  if (!ops.empty()) {
    std::memcpy(ops.data(), round.data() + header.spans[thread].offset, ops.size() * sizeof(Op));
  }
  return ops;
}

PhaseOutcome play_phase(const PhaseScript& phase, const IndexApi& api, const PoolsView& pools,
                        IndexNames& names, EventClock& event_clock, uint64_t ops_per_round) {
  const OutcomeLayout layout = outcome_layout(phase);
  Image image(layout.size_bytes);
  write_outcome_header(layout, image.bytes());
  const RoundPlan plan = plan_rounds(phase, ops_per_round);
  std::vector<std::vector<std::byte>> rounds;
  rounds.reserve(plan.rounds());
  for (uint32_t r = 0; r < plan.rounds(); ++r) rounds.push_back(round_image(phase, plan, r));
  const TickClock clock(100'000);
  Events events;
  Baton baton;
  Patience patience;
  const uint64_t go = clock.ticks();
  {
    std::vector<std::jthread> threads;
    threads.reserve(phase.threads.size());
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      threads.emplace_back([&, t] {
        std::byte* base = image.bytes().data();
        const OutcomeHeader::Span& span = layout.header.spans[t];
        auto* outcomes = reinterpret_cast<ThreadOutcome*>(base + layout.header.thread_offset);
        auto* ends = reinterpret_cast<TransactionEnd*>(base + span.ends_offset);
        const bool recorded = !phase.log_capacity.empty();
        std::optional<Recording> recording;
        if (recorded) {
          auto* log = reinterpret_cast<Event*>(base + span.log_offset);
          recording.emplace(RecordingInputs{.api = &api,
                                            .names = &names,
                                            .clock = &event_clock,
                                            .log = {log, span.log_capacity}});
        }
        Session session({.api = recorded ? &recording_api() : &api,
                         .pools = &pools,
                         .names = &names,
                         .events = &events,
                         .baton = &baton,
                         .patience = &patience,
                         .clock = &clock,
                         .go_ticks = go,
                         .outcome = &outcomes[t],
                         .ends = {ends, span.ends_capacity},
                         .trace = {base + span.trace_offset, span.trace_capacity}});
        for (const std::vector<std::byte>& round : rounds) session.run(ops_of(round, t));
        session.finish();
        if (recorded) {
          outcomes[t].events = recording->events();
          outcomes[t].events_full = recording->full() ? 1 : 0;
          outcomes[t].stamp_slack = event_clock.slack();
        }
      });
    }
  }
  return read_outcome(image.bytes(), layout).value();
}

}  // namespace

Outcome play(const Script& script, const IndexApi& api, uint64_t ops_per_round) {
  const std::vector<std::byte> image = pools_image(script);
  const PoolsView pools = PoolsView::open(image).value();
  IndexNames names(pools.indexes);
  // One for all phases: an index that lives through several has one history.
  EventClock event_clock(EventClock::Source::kSharedCounter);
  Outcome outcome;
  for (const PhaseScript& phase : script.phases) {
    outcome.phases.push_back(play_phase(phase, api, pools, names, event_clock, ops_per_round));
  }
  return outcome;
}

std::string text_of(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings.list()) {
    text += (finding.severity == Severity::kRequired ? "required " : "advisory ") + finding.name +
            ": " + finding.detail + "\n";
  }
  return text;
}

}  // namespace keydrome::testing
