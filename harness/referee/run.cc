#include "harness/referee/run.h"

#include <sys/random.h>

#include <algorithm>

#include "base/clock.h"
#include "base/topology.h"
#include "benchmarks/kit/images.h"
#include "benchmarks/kit/outcome_layout.h"
#include "harness/calls.h"
#include "harness/referee/driver_process.h"
#include "harness/referee/hang.h"
#include "harness/referee/memfd.h"
#include "harness/referee/phase_watch.h"
#include "harness/referee/round_supply.h"
#include "harness/referee/session_limits.h"
#include "harness/stacks.h"

namespace keydrome {
namespace {

// After the channel closed, a crash needs a moment to become an exit.
constexpr uint64_t kPatienceMs = 2'000;
// How often it is looked how far the threads of a phase are.
constexpr uint64_t kLookEveryMs = 500;

uint64_t fresh_nonce() {
  uint64_t nonce = 0;
  KEYDROME_CHECK(getrandom(&nonce, sizeof nonce, 0) == sizeof nonce);
  return nonce;
}

class Conductor {
 public:
  Conductor(const Script& script, const JailOptions& options, const Progress& progress)
      : script_(script),
        options_(options),
        progress_(progress),
        limits_(options.wall_ms, options.plan.jail.cpu_seconds) {}

  RunFacts play() {
    const bool complete = start() && load() && play_phases();
    if (complete) {
      facts_.stage = Stage::kComplete;
      send(make_message(MessageType::kEnd));
    }
    if (jail_) {
      // An end that the player brought about itself must not be mistaken for our kill.
      facts_.jail = jail_->finish(facts_.stop == Stop::kClosed ? kPatienceMs : 0);
      facts_.standard_output = jail_->output().text();
      facts_.standard_errors = jail_->errors().text();
      facts_.output_truncated = jail_->output().truncated() || jail_->errors().truncated();
    }
    return std::move(facts_);
  }

 private:
  bool stop(Stop stop, std::string detail) {
    facts_.stop = stop;
    facts_.detail = std::move(detail);
    return false;
  }

  bool send(const Message& message, std::span<const int> fds = {}) {
    return jail_->send(message, fds);
  }

  bool start() {
    Result<UniqueFd> pools = sealed_input(pools_image(script_));
    if (!pools) return stop(Stop::kNotStarted, pools.error().message);
    pools_ = std::move(*pools);
    Result<SharedRegion> stacks = SharedRegion::create(sizeof(StackPage));
    if (!stacks) return stop(Stop::kNotStarted, stacks.error().message);
    stacks_.emplace(std::move(*stacks));
    Result<JailProcess> jail = JailProcess::start(options_);
    if (!jail) return stop(Stop::kNotStarted, jail.error().message);
    jail_.emplace(std::move(*jail));
    Message hello{};
    return expect(hello, MessageType::kHello, load_deadline(), "the player to start") &&
           (!options_.plan.verified || start_driver());
  }

  // Verified mode: the driver, and the slots over which its calls go.
  bool start_driver() {
    Result<SharedRegion> slots = SharedRegion::create(threads_max() * sizeof(CallSlot));
    if (!slots) return stop(Stop::kNotStarted, slots.error().message);
    slots_.emplace(std::move(*slots));
    Result<DriverProcess> driver = DriverProcess::start(options_.plan.driver);
    if (!driver) return stop(Stop::kNotStarted, driver.error().message);
    driver_.emplace(std::move(*driver));
    driver_speaks_ = true;
    Message message{};
    if (!expect(message, MessageType::kHello, load_deadline(), "the driver to start")) return false;
    const int slots_fd = slots_->fd();
    driver_->send(make_message(MessageType::kLoad), {&slots_fd, 1});
    const bool ready = expect(message, MessageType::kLoaded, load_deadline(), "the driver");
    driver_speaks_ = false;
    spinning_threads_max_ = spinning_threads_max();
    return ready;
  }

  uint64_t load_deadline() const {
    return now_ns() + options_.plan.limits.load_timeout_ms * kNsPerMs;
  }

  // Waits for a message, looks now and then how far the threads are, and gives up at `deadline_ns`
  // or when the session has reached a limit, which passed_ then names.
  JailProcess::Event wait(Message& message, uint64_t deadline_ns) {
    for (;;) {
      passed_ = limits_.passed(jail_->pid(), now_ns());
      if (!passed_.empty()) return JailProcess::Event::kDeadline;
      uint64_t until_ns = std::min(deadline_ns, limits_.next_ns());
      if (watch_ != nullptr) until_ns = std::min(until_ns, now_ns() + kLookEveryMs * kNsPerMs);
      const JailProcess::Event event = wait_unwatched(message, until_ns);
      if (event != JailProcess::Event::kDeadline || until_ns == deadline_ns) return event;
      if (watch_ != nullptr) watch_->look(now_ns());
    }
  }

  // A message of the player, or of the driver when that is the one to speak. Then the player has
  // nothing to say but that it has ended the phase too, which is kept for later.
  JailProcess::Event wait_unwatched(Message& message, uint64_t deadline_ns) {
    for (;;) {
      const int beside = driver_speaks_ ? driver_->descriptor() : -1;
      const JailProcess::Event event = jail_->wait(message, deadline_ns, beside);
      from_driver_ = event == JailProcess::Event::kBeside;
      if (from_driver_) {
        return driver_->receive(message) == Receive::kMessage ? JailProcess::Event::kMessage
                                                              : JailProcess::Event::kBeside;
      }
      const bool done = event == JailProcess::Event::kMessage &&
                        message.type == MessageType::kDone && message.status == kDoneWell;
      if (!driver_speaks_ || !done || player_done_) return event;
      player_done_ = message.nonce;
    }
  }

  // Waits for exactly this type of message, from the one who is to speak.
  bool expect(Message& message, MessageType type, uint64_t deadline_ns, const std::string& what) {
    switch (wait(message, deadline_ns)) {
      case JailProcess::Event::kClosed:
        return stop(Stop::kClosed, "it ended while the referee waited for " + what);
      case JailProcess::Event::kDeadline:
        if (passed_.empty()) {
          return stop(Stop::kDeadline, "the time is over that there was for " + what);
        }
        return stop(Stop::kLimit, std::string(passed_) + " while the referee waited for " + what);
      case JailProcess::Event::kMalformed:
        return stop(Stop::kViolation, "a malformed message came instead of " + what);
      case JailProcess::Event::kBeside:
        return stop(Stop::kNotStarted, "the driver ended while the referee waited for " + what);
      case JailProcess::Event::kMessage:
        break;
    }
    if (message.type == type && from_driver_ == driver_speaks_) return true;
    return stop(Stop::kViolation, "message " + std::to_string(static_cast<uint32_t>(message.type)) +
                                      " came while the referee waited for " + what);
  }

  // Of the phase that has most.
  uint32_t threads_max() const {
    std::size_t threads = 1;
    for (const PhaseScript& phase : script_.phases) {
      threads = std::max(threads, phase.threads.size());
    }
    return static_cast<uint32_t>(threads);
  }

  bool load() {
    facts_.stage = Stage::kLoading;
    report({{"event", "loading"}});
    Message message = make_message(MessageType::kLoad);
    constexpr std::string_view kLibraryInside = "/library.so";
    kLibraryInside.copy(message.text, kLibraryInside.size());
    const std::string configuration = configuration_text(options_.plan.library, threads_max());
    configuration.copy(message.text + kLibraryInside.size() + 1, configuration.size());
    std::vector<int> fds{stacks_->fd()};
    if (driver_) {
      message.flags = kLoadServes;
      fds.push_back(slots_->fd());
    }
    if (!send(message, fds)) {
      return stop(Stop::kClosed, "it ended before it could be told to load");
    }
    const std::string what = "the library to load";
    if (!expect(message, MessageType::kLoaded, load_deadline(), what)) {
      explain_hang(nullptr, nullptr);
      return false;
    }
    if (message.status != 0) {
      message.text[kTextBytes - 1] = '\0';
      facts_.load_status = message.status;
      return stop(Stop::kLoadFailed, message.text);
    }
    return true;
  }

  bool play_phases() {
    facts_.stage = Stage::kPlaying;
    facts_.frozen_between = freeze_after("loading");
    usage_ = jail_->usage().value_or(JailUsage{});
    facts_.memory_loaded_bytes = usage_.memory_bytes;
    for (uint32_t i = 0; i < script_.phases.size(); ++i) {
      report_phase("phase", i, nullptr);
      if (!play_phase(i)) return false;
      report_phase("phase_done", i, &facts_.phases.back());
    }
    return true;
  }

  bool play_phase(uint32_t index) {
    const PhaseScript& phase = script_.phases[index];
    const OutcomeLayout layout = outcome_layout(phase);
    Result<SharedRegion> outcome = SharedRegion::create(layout.size_bytes);
    if (!outcome) return stop(Stop::kNotStarted, outcome.error().message);
    write_outcome_header(layout, outcome->bytes());
    RoundSupply rounds(phase);
    Result<UniqueFd> first = rounds.take();
    if (!first) return stop(Stop::kNotStarted, first.error().message);
    if (Result<void> built = rounds.build_ahead(); !built) {
      return stop(Stop::kNotStarted, built.error().message);
    }
    PhaseFacts facts;
    facts.name = phase.name;
    facts.timed = phase.timed;
    facts.threads = static_cast<uint32_t>(phase.threads.size());
    Message go = make_message(MessageType::kGo);
    go.nonce = fresh_nonce();
    go.phase = index;
    go.flags = index == 0 ? kGoHasPools : 0;
    std::vector<int> fds{first->get(), outcome->fd()};
    if (index == 0) fds.insert(fds.begin(), pools_.get());

    if (facts_.frozen_between && !resume(phase.name)) return false;
    const uint64_t start_ns = now_ns();
    if (!send_go(go, fds, facts.threads)) {
      return stop(Stop::kClosed, "it ended before phase " + phase.name);
    }
    PhaseWatch watch(layout, outcome->bytes(),
                     slots_ ? slots_->bytes() : std::span<const std::byte>());
    watch_ = &watch;
    const bool ended = follow(go, rounds);
    watch_ = nullptr;
    if (!ended) {
      explain_hang(&phase, &watch);
      return false;
    }
    facts.wall_ns = now_ns() - start_ns;
    if (facts_.frozen_between) freeze_after("phase " + phase.name);
    return account(facts, layout, outcome->bytes());
  }

  // False, and noted, when something of the library runs on. A player that has ended is not noted.
  bool freeze_after(const std::string& step) {
    if (jail_->freeze()) return true;
    // A freeze that came too late may still take hold, and nobody would thaw it again.
    jail_->thaw();
    Message message{};
    const bool ended = jail_->wait(message, now_ns()) == JailProcess::Event::kClosed;
    if (!ended && facts_.unfrozen_after.empty()) facts_.unfrozen_after = step;
    return false;
  }

  // GO to whoever plays the programs; in verified mode the player serves the calls meanwhile.
  bool send_go(Message go, std::span<const int> fds, uint32_t threads) {
    if (!driver_) return send(go, fds);
    Message serve = go;
    serve.threads = threads;
    serve.flags = threads <= spinning_threads_max_ ? kGoSpin : 0;
    go.flags |= serve.flags;
    return send(serve) && send_program(go, fds);
  }

  bool send_program(const Message& message, std::span<const int> fds) {
    return driver_ ? driver_->send(message, fds) : send(message, fds);
  }

  // Of a phase that is to wait busily, which pays when each thread has a processor on both sides.
  // Asking the system takes a millisecond or two, so it is asked before the first GO.
  std::size_t spinning_threads_max() const {
    const Result<std::vector<Cpu>> all = usable_cpus();
    if (!all) return 0;
    if (options_.plan.jail.cpus.empty()) return all->size() / 2;
    const Result<std::vector<int>> inside = parse_cpu_list(options_.plan.jail.cpus);
    return inside ? std::min(all->size() / 2, inside->size()) : 0;
  }

  // A jail that stays frozen is no fault of the library, unless it is not there any more.
  bool resume(const std::string& phase) {
    if (jail_->thaw()) return true;
    Message message{};
    if (jail_->wait(message, now_ns()) == JailProcess::Event::kClosed) {
      return stop(Stop::kClosed, "it ended before phase " + phase);
    }
    return stop(Stop::kNotStarted, "the jail could not be resumed for phase " + phase);
  }

  void explain_hang(const PhaseScript* phase, PhaseWatch* watch) {
    if (watch != nullptr) watch->look(now_ns());
    // The process is gone. What its threads noted is still there, in memory that is the referee's.
    if (facts_.stop == Stop::kClosed && phase != nullptr) {
      facts_.hang = last_stand(script_, *phase, *watch);
    }
    if (facts_.stop != Stop::kDeadline && facts_.stop != Stop::kLimit) return;
    if (options_.explain_hangs) {
      facts_.hang = hang_evidence({.jail = jail_->pid(),
                                   .stack_page = stacks_->bytes(),
                                   .script = &script_,
                                   .phase = phase,
                                   .watch = watch});
    }
    if (phase != nullptr) facts_.detail += progress_of(*phase, *watch);
  }

  // Hands out rounds until DONE, in verified mode the driver's and then the player's.
  bool follow(const Message& go, RoundSupply& rounds) {
    const uint64_t deadline_ns = now_ns() + options_.plan.limits.phase_timeout_ms * kNsPerMs;
    if (!driver_) return follow_until_done(go, rounds, deadline_ns);
    player_done_.reset();
    driver_speaks_ = true;
    const bool played = follow_until_done(go, rounds, deadline_ns);
    driver_speaks_ = false;
    return played && (player_done_ == go.nonce || follow_until_done(go, rounds, deadline_ns));
  }

  bool follow_until_done(const Message& go, RoundSupply& rounds, uint64_t deadline_ns) {
    const std::string& name = script_.phases[go.phase].name;
    Message message{};
    for (;;) {
      const bool more = rounds.sent() < rounds.rounds();
      const std::string what = "phase " + name + " to end";
      const bool expected =
          expect(message, more ? MessageType::kNeed : MessageType::kDone, deadline_ns, what);
      const bool broken_off = message.type == MessageType::kDone && message.status != kDoneWell &&
                              (expected || facts_.stop == Stop::kViolation);
      if (!expected && !broken_off) return false;
      if (message.nonce != go.nonce || message.phase != go.phase) {
        return stop(Stop::kViolation, "a message with a wrong nonce came in phase " + name);
      }
      if (broken_off) return stop_broken_off(message, name);
      if (!more) return true;
      if (message.round + 1 != rounds.sent()) {
        return stop(Stop::kViolation, "a round was asked for out of order in phase " + name);
      }
      Result<UniqueFd> round = rounds.take();
      if (!round) return stop(Stop::kNotStarted, round.error().message);
      Message answer = make_message(MessageType::kRound);
      answer.nonce = go.nonce;
      answer.phase = go.phase;
      answer.round = message.round + 1;
      const int fd = round->get();
      if (!send_program(answer, {&fd, 1})) return stop(Stop::kClosed, "it ended in phase " + name);
      if (Result<void> built = rounds.build_ahead(); !built) {
        return stop(Stop::kNotStarted, built.error().message);
      }
    }
  }

  bool stop_broken_off(Message& message, const std::string& phase) {
    message.text[kTextBytes - 1] = '\0';
    if (from_driver_) {
      return stop(Stop::kNotStarted,
                  "the driver could not go on in phase " + phase + ": " + message.text);
    }
    if (message.status == kDoneException) {
      return stop(Stop::kException,
                  "an exception left the library in phase " + phase + ": " + message.text);
    }
    return stop(Stop::kPlayerFailed,
                "the player could not go on in phase " + phase + ": " + message.text);
  }

  // Books what the phase cost and takes a checked copy of its outcome.
  bool account(PhaseFacts& facts, const OutcomeLayout& layout, std::span<const std::byte> image) {
    const JailUsage usage = jail_->usage().value_or(JailUsage{});
    if (usage.cpu_us && usage_.cpu_us && *usage.cpu_us >= *usage_.cpu_us) {
      facts.cpu_us = *usage.cpu_us - *usage_.cpu_us;
    }
    facts.memory_bytes = usage.memory_bytes;
    for (size_t i = 0; i < usage.counters.size(); ++i) {
      const std::optional<uint64_t>&now = usage.counters[i], &before = usage_.counters[i];
      if (now && before && *now >= *before) facts.counters[i] = *now - *before;
    }
    usage_ = usage;
    Result<PhaseOutcome> outcome = read_outcome(image, layout);
    if (!outcome) {
      return stop(Stop::kBadOutcome, "phase " + facts.name + ": " + outcome.error().message);
    }
    for (const ThreadResult& thread : outcome->threads) {
      facts.player_ns = std::max(facts.player_ns.value_or(0), thread.counters->ended_ns);
    }
    facts_.outcome.phases.push_back(std::move(*outcome));
    facts_.phases.push_back(facts);
    return true;
  }

  // Where the threads of an unfinished phase stand. The numbers are the player's word.
  static std::string progress_of(const PhaseScript& phase, const PhaseWatch& watch) {
    constexpr uint32_t kThreadsNamed = 4;
    std::string text;
    uint32_t unfinished = 0;
    for (size_t t = 0; t < phase.threads.size(); ++t) {
      const uint64_t at = watch.stand(t).progress & ~kTakingBack;
      if (at >= phase.threads[t].size() || ++unfinished > kThreadsNamed) continue;
      text += (text.empty() ? "; thread " : ", thread ") + std::to_string(t) +
              " stands at operation " + std::to_string(at) + " of " +
              std::to_string(phase.threads[t].size());
    }
    if (unfinished > kThreadsNamed) {
      text += ", and " + std::to_string(unfinished - kThreadsNamed) + " more threads at others";
    }
    return text;
  }

  void report(const Json::Object& event) const {
    if (progress_) progress_(event);
  }

  void report_phase(const char* kind, uint32_t index, const PhaseFacts* facts) const {
    Json::Object event{{"event", kind},
                       {"name", script_.phases[index].name},
                       {"index", index},
                       {"of", static_cast<uint64_t>(script_.phases.size())}};
    if (facts != nullptr) event["wall_ns"] = facts->wall_ns;
    report(event);
  }

  const Script& script_;
  const JailOptions& options_;
  const Progress& progress_;
  UniqueFd pools_;
  std::optional<SharedRegion> stacks_;
  PhaseWatch* watch_ = nullptr;  // of the phase that runs
  SessionLimits limits_;
  std::string_view passed_;  // the limit that ended the last wait(); empty: none did
  std::optional<JailProcess> jail_;
  std::optional<SharedRegion> slots_;     // of verified mode,
  std::optional<DriverProcess> driver_;   // as this is,
  std::size_t spinning_threads_max_ = 0;  // and this
  bool driver_speaks_ = false;            // whose message is waited for
  bool from_driver_ = false;              // whose the last message was
  std::optional<uint64_t> player_done_;   // the nonce of its DONE that came while the driver spoke
  JailUsage usage_;
  RunFacts facts_;
};

}  // namespace

RunFacts play(const Script& script, const JailOptions& options, const Progress& progress) {
  return Conductor(script, options, progress).play();
}

}  // namespace keydrome
