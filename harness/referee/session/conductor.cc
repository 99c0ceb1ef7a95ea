// Implements play(): starts the processes, loads the library, plays the phases and ends the session
// (one repetition of a benchmark). The functions are in the order of the protocol
// (harness/protocol.h). This code runs in the referee, the trusted process. The player is the
// jailed process that runs the library, and plays the programs (lists of operations). In verified
// mode a second process, the driver, plays the programs outside the jail (sandbox). The class
// Partner hides this difference.
#include "harness/referee/session/conductor.h"

#include <sys/random.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "benchmarks/kit/script/outcome_layout.h"
#include "harness/referee/hang/hang.h"
#include "harness/referee/hang/pace.h"
#include "harness/referee/hang/program_position.h"
#include "harness/referee/hang/thread_facts.h"
#include "harness/referee/machine/idle_work.h"
#include "harness/referee/memory/piece_supply.h"
#include "harness/referee/memory/session_memory.h"
#include "harness/referee/session/follow_phase.h"
#include "harness/referee/session/partner.h"
#include "harness/referee/session/phase_account.h"

namespace keydrome {
namespace {

// How long the kernel and the jail may take to end a player whose process is already ending.
constexpr uint64_t kEndingMs = 20'000;

uint64_t fresh_nonce() {
  uint64_t nonce = 0;
  KEYDROME_CHECK(getrandom(&nonce, sizeof nonce, 0) == sizeof nonce);
  return nonce;
}

std::vector<KeyType> key_types_of(const script::Script& script) {
  std::vector<KeyType> types;
  for (const script::IndexSpec& index : script.indexes) types.push_back(index.type);
  return types;
}

// Makes the message LOAD, the command to load the library. Its text is the library's path in the
// jail, a NUL, and the configuration (may be empty). parse_plan() has checked that the text fits.
Message load_message(const LibraryPlan& library, const script::Script& script) {
  constexpr std::string_view kLibraryInside = "/library.so";
  Message load = make_message(MessageType::kLoad);
  kLibraryInside.copy(load.text, kLibraryInside.size());
  const std::string configuration =
      configuration_text(library, threads_max(script), key_types_of(script));
  configuration.copy(load.text + kLibraryInside.size() + 1, configuration.size());
  return load;
}

Message go_message(uint32_t phase, bool pinned) {
  Message go = make_message(MessageType::kGo);
  go.nonce = fresh_nonce();
  go.phase = phase;
  go.flags = pinned ? kGoPinned : 0;
  return go;
}

// Describes a phase for `progress`. `done` is nullptr when the phase starts, and the result of the
// phase when the phase has ended.
Json phase_event(const script::Script& script, uint32_t index, const PhaseResult* done) {
  Json::Object event{{"event", done == nullptr ? "phase" : "phase_done"},
                     {"name", script.phases[index].name},
                     {"index", index},
                     {"of", static_cast<uint64_t>(script.phases.size())}};
  if (done != nullptr) event["wall_ns"] = done->wall_ns;
  return event;
}

// Returns a new result of a phase, with the members that its script (operations and settings)
// determines. The caller adds the measurements.
PhaseResult result_of(const script::PhaseScript& phase) {
  PhaseResult result;
  result.name = phase.name;
  result.timed = phase.timed;
  result.pinned = phase.pinned;
  result.threads = result.player_threads = static_cast<uint32_t>(phase.threads.size());
  return result;
}

// Executes a step, adds its time to `total_ns`, and returns its result.
template <typename Step>
auto timed(uint64_t& total_ns, Step&& step) {
  const uint64_t start_ns = now_ns();
  auto result = step();
  total_ns += now_ns() - start_ns;
  return result;
}

// Returns the time from GO, the message that starts the phase, to the end of the last thread, by
// the player's clock.
uint64_t player_ns(const script::PhaseOutcome& outcome) {
  uint64_t last_ns = 0;
  for (const script::ThreadResult& thread : outcome.threads)
    last_ns = std::max(last_ns, script::referee_clock().to_ns(thread.reported->ended_ticks));
  return last_ns;
}

// Returns the times of a phase that has just stopped. A call that lasts for half of the phase's
// limit is stuck.
PhaseTimes times_of(const JailOptions& options, uint64_t start_ns) {
  return {.start_ns = start_ns,
          .now_ns = now_ns(),
          .stuck_ns = options.plan.limits.phase_timeout_ms * kNsPerMs / 2};
}

// Returns the end of a sentence that says how far the phase was when a time limit passed.
std::string progress_text(const script::PhaseScript& phase, const PhaseWatch& watch,
                          const PhaseTimes& times, bool late, bool slow) {
  if (late) return just_begun_text(times);
  return slow ? pace_text(phase, watch, times) : unfinished_threads(phase, watch);
}

// Returns the number of the operation that each thread has reached. The player wrote the positions,
// so the referee does not trust them. They show which calls preceded a crash (crash_program.h).
// They decide something only in advisory instances (parameter sets of a benchmark for which a
// failed check is a warning). There they decide whether a crash or hang is more than a warning.
std::vector<uint64_t> positions_of(const script::Script& script, const script::PhaseScript& phase,
                                   const PhaseWatch& watch) {
  std::vector<uint64_t> positions;
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    const std::vector<format::Op>& ops = phase.threads[t];
    positions.push_back(program_position(script, ops, watch.reached(t, ops)).op);
  }
  return positions;
}

// Plays one session; use each object once. If the session stops, the functions that return bool
// store the reason in result_ and return false.
class Conductor {
 public:
  Conductor(const script::Script& script, const JailOptions& options, const Progress& progress,
            const std::function<void()>& idle_work)
      : script_(script),
        memory_(script),
        options_(options),
        progress_(progress),
        partner_(Partner::create(options, threads_max(script))),
        idle_work_(idle_work) {}

  SessionResult play(const Adapt& adapt) {
    result_.memory_limit_bytes = options_.memory_bytes;
    const bool complete = start() && load() && play_phases(adapt);
    idle_work_.finish();
    JailProcess* jail = partner_->jail();
    if (complete) {
      result_.stage = Stage::kComplete;
      jail->send(make_message(MessageType::kEnd));
    }
    if (jail != nullptr) {
      result_.jail = jail->finish(exit_grace_ms());
      result_.standard_output = jail->output().text();
      result_.standard_errors = jail->errors().text();
      result_.output_truncated = jail->output().truncated() || jail->errors().truncated();
    }
    return std::move(result_);
  }

 private:
  bool stop(StopReason reason, std::string detail) {
    result_.stop = reason;
    result_.detail = std::move(detail);
    return false;
  }

  // Returns how long the player may take to exit before it is killed. A kill would hide the exit
  // status, which says why a player closed its channel. A process that is already ending gets much
  // time, because the machine may be busy; one that continues to run gets little.
  uint64_t exit_grace_ms() {
    if (result_.stop != StopReason::kClosed) return 0;
    result_.player_ended = account_ && is_ending(account_->player());
    return result_.player_ended ? kEndingMs : options_.exit_grace_ms;
  }

  // Returns true if the session continues. If it stopped, stores the reason and returns false.
  bool passed(std::optional<Stopped> stopped) {
    return !stopped || stop(stopped->reason, std::move(stopped->detail));
  }

  void report(const Json& event) const {
    if (progress_) progress_(event);
  }

  bool start() {
    const Result<void> made = timed(result_.inputs_ns, [&] { return memory_.create(); });
    if (!made) return stop(StopReason::kNotStarted, made.error().message);
    return passed(partner_->start(memory_.descriptors()));
  }

  bool load() {
    report(Json::Object{{"event", "loading"}});
    account_.emplace(*partner_->jail(), result_);
    account_->begin_loading();
    Message message = load_message(options_.plan.library, script_);
    if (!partner_->send_load(message)) {
      return stop(StopReason::kClosed,
                  "the player, the program that calls libraries, ended before it received the "
                  "command to load the library");
    }
    result_.stage = Stage::kLoading;
    if (!passed(partner_->expect(message, MessageType::kLoaded, partner_->load_deadline_ns(),
                                 "the library to load"))) {
      explain_stop(nullptr, nullptr, 0);
      return false;
    }
    if (message.status == kLoadOk) return true;
    message.text[kTextBytes - 1] = '\0';
    result_.load_status = message.status;
    return stop(StopReason::kLoadFailed, message.text);
  }

  bool play_phases(const Adapt& adapt) {
    result_.stage = Stage::kPlaying;
    account_->begin();
    for (uint32_t i = 0; i < script_.phases.size(); ++i) {
      if (adapt) adapt(i, result_.outcome);
      report(phase_event(script_, i, nullptr));
      if (!play_phase(i)) return false;
      report(phase_event(script_, i, &result_.phases.back()));
    }
    account_->end();
    return true;
  }

  // Makes the inputs before the message GO starts the phase, so the clock measures only the player.
  // The inputs are pieces, i.e. portions of the programs. If they exceed 512 MiB, the last ones are
  // made during the phase (piece_supply.h).
  bool play_phase(uint32_t index) {
    const script::PhaseScript& phase = script_.phases[index];
    if (phase.timed) idle_work_.finish();
    const script::OutcomeLayout layout = script::outcome_layout(phase, script_.pools);
    const Result<std::span<std::byte>> outcome =
        timed(result_.inputs_ns, [&] { return memory_.begin_outcome(index, layout); });
    if (!outcome) return stop(StopReason::kNotStarted, outcome.error().message);
    PieceSupply pieces = timed(result_.inputs_ns, [&] { return memory_.begin_pieces(index); });
    const Message go = go_message(index, phase.pinned);
    uint64_t start_ns = 0;
    partner_->begin_step();
    if (!start_phase(go, phase, start_ns)) return false;
    if (!phase.timed) idle_work_.start();
    PhaseWatch watch(layout, *outcome, partner_->call_slots());
    partner_->set_watch(&watch);
    const uint64_t deadline_ns = now_ns() + options_.plan.limits.phase_timeout_ms * kNsPerMs;
    const bool ended = passed(follow_phase(*partner_, go, phase.name, pieces, deadline_ns));
    partner_->set_watch(nullptr);
    if (!ended) {
      explain_stop(&phase, &watch, start_ns);
      return false;
    }
    PhaseResult done = result_of(phase);
    account_->stop_clock(start_ns, done);
    return store(std::move(done), layout, *outcome);
  }

  // Starts the clock before any thread that plays programs runs. A frozen player receives GO only
  // when it thaws. So for a frozen player, GO is sent first, and the clock does not measure the
  // sending.
  bool start_phase(const Message& go, const script::PhaseScript& phase, uint64_t& start_ns) {
    const bool sleeps = result_.frozen_between && partner_->plays_in_jail();
    const auto send = [&] {
      return partner_->send_go(go, static_cast<uint32_t>(phase.threads.size())) ||
             stop(StopReason::kClosed,
                  "the library's process ended before " + phase_text(phase.name) + " began");
    };
    if (sleeps && !send()) return false;
    account_->before_clock();
    start_ns = now_ns();
    return passed(account_->thaw(phase.name)) && (sleeps || send());
  }

  // Describes the threads after a deadline or limit has passed, or after the player has died.
  // `phase` and `watch` are nullptr while the library loads. `start_ns` is when the phase started.
  void explain_stop(const script::PhaseScript* phase, PhaseWatch* watch, uint64_t start_ns) {
    PhaseTimes times = times_of(options_, start_ns);
    if (watch != nullptr) {
      watch->sample(times.now_ns);
      result_.positions = positions_of(script_, *phase, *watch);
      result_.stuck = is_stuck(script_, *phase, *watch, times);
    }
    result_.starved = partner_->starved(result_.stop);
    const HangInputs inputs{.jail = partner_->jail()->pid(),
                            .stack_page = memory_.stack_page(),
                            .script = &script_,
                            .phase = phase,
                            .watch = watch};
    const bool ran_out =
        result_.stop == StopReason::kDeadline || result_.stop == StopReason::kLimit;
    const bool explains = ran_out && options_.explain_hangs;
    const TwoLooks looks = explains ? look_twice(inputs) : TwoLooks{};
    if (explains) times.now_ns = looks.now_ns;
    const bool late = result_.stop == StopReason::kLimit && has_just_begun(times);
    result_.slow = watch != nullptr && (late || is_advancing(script_, *phase, *watch, times));
    if (explains) result_.hang = hang_evidence(inputs, looks, result_.slow);
    // The player has exited, but what its threads wrote is still in the shared memory.
    const bool died = result_.stop == StopReason::kClosed || result_.stop == StopReason::kException;
    if (died) result_.hang = crash_evidence(inputs);
    if (ran_out && phase != nullptr)
      result_.detail += progress_text(*phase, *watch, times, late, result_.slow);
  }

  // Stores the phase and a checked copy of its outcome (the results of its operations).
  bool store(PhaseResult done, const script::OutcomeLayout& layout,
             std::span<const std::byte> image) {
    const script::PhaseScript& phase = script_.phases[result_.phases.size()];
    Result<script::PhaseOutcome> outcome = timed(result_.outcomes_ns, [&] {
      return script::read_outcome(image, layout, script_, phase, options_.keep_calls);
    });
    if (!outcome) {
      return stop(StopReason::kBadOutcome, phase_text(done.name) + ": " + outcome.error().message);
    }
    done.player_ns = player_ns(*outcome);
    result_.outcome.phases.push_back(std::move(*outcome));
    result_.phases.push_back(std::move(done));
    return true;
  }

  const script::Script& script_;
  SessionMemory memory_;
  const JailOptions& options_;
  const Progress& progress_;
  const std::unique_ptr<Partner> partner_;
  std::optional<PhaseAccount> account_;  // exists after start()
  SessionResult result_;
  IdleWork idle_work_;
};

}  // namespace

SessionResult play(const script::Script& script, const JailOptions& options,
                   const Progress& progress, const Adapt& adapt,
                   const std::function<void()>& idle_work) {
  return Conductor(script, options, progress, idle_work).play(adapt);
}

}  // namespace keydrome
