// Implements play(), which runs a script in the test's process: it does the work of referee and
// player (the processes that judge a run and that call the library), and passes operations between
// them in the real binary format (images).
#include "benchmarks/kit/tests/play.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/player/interpreter.h"
#include "benchmarks/kit/player/recording.h"
#include "benchmarks/kit/script/images.h"
#include "benchmarks/kit/script/piece_writer.h"

namespace keydrome::testing {

using history::Event;

namespace {

// A zeroed image aligned to a cache line, like a fresh memfd.
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

constexpr uint64_t kPieceBytes = 20'000;  // about 1,000 operations

// Plays the program of one thread, in pieces (parts) of about kPieceBytes. Each piece is freed when
// it has been played, so that a sanitizer finds every later use.
void play_pieces(player::Interpreter& session, const player::PoolsView& pools,
                 const script::PieceWriter& writer, std::span<const format::Op> ops) {
  for (uint64_t from = 0; from < ops.size();) {
    const uint64_t end = writer.cut(ops, from, kPieceBytes);
    const std::vector<std::byte> piece =
        writer.write(ops.subspan(from, end - from), end == ops.size());
    session.run(player::PieceView::open(pools, piece).value());
    from = end;
  }
}

script::PhaseOutcome play_phase(const script::Script& script, const script::PieceWriter& writer,
                                const script::PhaseScript& phase, const player::IndexApi& api,
                                const player::PoolsView& pools, player::IndexNames& names,
                                player::EventClock& event_clock, bool keep_calls) {
  const script::OutcomeLayout layout = script::outcome_layout(phase, script.pools);
  Image image(layout.size_bytes);
  script::write_outcome_header(layout, image.bytes());
  const TickClock clock(100'000);
  player::Signals events;
  player::Turns turns;
  player::RetryBudget retry_budget;
  const uint64_t go = clock.ticks();
  {
    std::vector<std::jthread> threads;
    threads.reserve(phase.threads.size());
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      threads.emplace_back([&, t] {
        std::byte* base = image.bytes().data();
        const format::OutcomeHeader::Span& span = layout.header.spans[t];
        auto* outcomes =
            reinterpret_cast<format::ThreadOutcome*>(base + layout.header.thread_offset);
        auto* words = reinterpret_cast<uint64_t*>(base + span.words_offset);
        const bool recorded = !phase.log_capacity.empty();
        std::optional<player::Recording> recording;
        if (recorded) {
          auto* log = reinterpret_cast<Event*>(base + span.log_offset);
          recording.emplace(
              player::RecordingInputs{.clock = &event_clock, .log = {log, span.log_capacity}});
        }
        player::Interpreter session({.api = &api,
                                     .pools = &pools,
                                     .names = &names,
                                     .events = &events,
                                     .turns = &turns,
                                     .retry_budget = &retry_budget,
                                     .clock = &clock,
                                     .go_ticks = go,
                                     .outcome = &outcomes[t],
                                     .words = {words, span.words_capacity},
                                     .words_spare = span.words_spare,
                                     .trace = {base + span.trace_offset, span.trace_capacity},
                                     .recording = recording ? &*recording : nullptr});
        play_pieces(session, pools, writer, phase.threads[t]);
        session.finish();
        if (recorded) {
          outcomes[t].events = recording->events();
          outcomes[t].events_full = recording->full() ? 1 : 0;
          outcomes[t].timestamp_slack = event_clock.slack();
        }
      });
    }
  }
  return script::read_outcome(image.bytes(), layout, script, phase, keep_calls).value();
}

// Returns the script without the operations (kUntil) that end programs by the clock. Replaces them
// by operations that do nothing, so that all operations keep their numbers.
script::Script without_clock(script::Script script) {
  for (script::PhaseScript& phase : script.phases) {
    for (std::vector<format::Op>& ops : phase.threads) {
      for (format::Op& op : ops) {
        if (op.code != format::OpCode::kUntil) continue;
        op.code = format::OpCode::kArrive;
        op.payload = op.argument = 0;
      }
    }
  }
  return script;
}

}  // namespace

script::Outcome play(const script::Script& script, const player::IndexApi& api, bool keep_calls) {
  if (std::ranges::any_of(script.phases, script::ends_by_clock)) {
    script::Outcome outcome = play(without_clock(script), api, keep_calls);
    for (script::PhaseOutcome& phase : outcome.phases) {
      for (script::ThreadResult& thread : phase.threads) thread.trace.pools = &script.pools;
    }
    return outcome;
  }
  const script::PieceWriter writer(script);
  const std::vector<std::byte> image = script::pools_image(script);
  const player::PoolsView pools = player::PoolsView::open(image).value();
  player::IndexNames names(pools.indexes);
  // All phases share one clock, because an index that several phases use has one history.
  player::EventClock event_clock(player::EventClock::Source::kSharedCounter);
  script::Outcome outcome;
  for (const script::PhaseScript& phase : script.phases) {
    outcome.phases.push_back(
        play_phase(script, writer, phase, api, pools, names, event_clock, keep_calls));
  }
  return outcome;
}

std::string text_of(const judge::Findings& findings) {
  std::string text;
  for (const judge::Finding& finding : findings.list()) {
    text += (finding.severity == Severity::kRequired ? "required " : "advisory ") + finding.name +
            ": " + finding.detail + "\n";
  }
  return text;
}

}  // namespace keydrome::testing
