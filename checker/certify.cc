#include "checker/certify.h"

#include <algorithm>
#include <utility>

#include "checker/circles.h"
#include "checker/model.h"
#include "checker/naming.h"
#include "checker/open_options.h"
#include "checker/precedence.h"
#include "checker/relaxed_time.h"
#include "checker/rules.h"
#include "checker/search_orders.h"

namespace keydrome {
namespace {

// Histories with so few committed transactions are searched when their versions are not known.
constexpr std::size_t kSearchedMax = 9;
// How often transactions are moved back in time. A few times are enough where an order exists.
constexpr uint32_t kMovesMax = 20;

void add_violation(Violation violation, const CertifyOptions& options, Certification& out) {
  const bool known =
      std::any_of(out.violations.begin(), out.violations.end(),
                  [&](const Violation& other) { return other.name == violation.name; });
  if (!known && out.violations.size() < options.violations_max) {
    out.violations.push_back(std::move(violation));
  }
}

bool has_required(const Certification& out) {
  return std::any_of(out.violations.begin(), out.violations.end(), [](const Violation& violation) {
    return violation.severity == Severity::kRequired;
  });
}

// What a lean sweep finds. What depends on the option chosen for an open element is kept apart: it
// accuses nobody while other options are left.
class Collector : public SweepSink {
 public:
  // `tentative`: the options chosen may be wrong.
  Collector(const Case& the_case, bool tentative) : case_(the_case), tentative_(tentative) {}

  void edge(const Observation& seen) override {
    const bool open = is_open(seen.element) && seen.kind != EdgeKind::kWriteRead;
    if (open) {
      open_edges.push_back(seen);
    } else {
      edges.push_back({seen.from, seen.to});
    }
  }
  void either_or(const EitherOr& choice) override { choices.push_back(choice); }
  void finding(const DirectFinding& found) override {
    if (found.is_about_deleter && found.element != kNoNumber && is_open(found.element)) {
      contradicted.push_back(suspects(found));
    } else {
      findings.push_back(found);
    }
  }

  std::vector<GraphEdge> edges;
  std::vector<Observation> open_edges;
  std::vector<EitherOr> choices;
  std::vector<DirectFinding> findings;
  std::vector<std::vector<uint32_t>> contradicted;  // open elements, of which one's option is wrong

 private:
  // The elements one of which should have another deleter: of a robbed transaction, all that it
  // could have deleted.
  std::vector<uint32_t> suspects(const DirectFinding& found) const {
    std::vector<uint32_t> elements;
    const std::vector<uint32_t>& cells = case_.numbering.element_cells;
    for (const OpenElement& open : case_.writers.open) {
      if (found.robbed == kNoNumber || cells[open.element] != cells[found.element]) continue;
      const auto end = open.options.end();
      if (std::find(open.options.begin(), end, found.robbed) == end) continue;
      elements.push_back(open.element);
    }
    if (elements.empty()) elements.push_back(found.element);
    return elements;
  }

  bool is_open(uint32_t element) const {
    return tentative_ && (case_.writers.notes[element] & kOpenDeleter) != 0;
  }

  const Case& case_;
  const bool tentative_;
};

// Judges a history whose transactions, numbers and writers are known: sets the verdict unless there
// is a violation that decides it.
class Certifier {
 public:
  Certifier(const Case& the_case, Writers& writers, Certification& out)
      : case_(the_case),
        writers_(writers),
        out_(out),
        options_(writers),
        count_(static_cast<uint32_t>(the_case.transactions.committed.size())) {}

  void run() {
    for (const DoubleDelete& twice : writers_.double_deletes) {
      if (case_.rule(kRuleDoubleDelete)) accuse(name_double_delete(case_, twice));
    }
    tentative_ = !options_.empty();
    Fit fit = attempt();
    bool proven = fit == Fit::kNo;
    while (fit != Fit::kYes && options_.next(conflicts_, firm_order_)) {
      fit = attempt();
      proven &= fit == Fit::kNo;
    }
    if (fit != Fit::kYes && proven && options_.exhausted()) {
      tentative_ = false;  // whichever is chosen does not fit; show it for the one chosen now
      attempt();
    } else if (fit != Fit::kYes) {
      undecided("no choice of who deleted which record was found that fits");
    }
  }

  // With kRuleRealTime off: accuses of what is wrong in whatever order. What rests on who deleted a
  // record blindly, or on which side of a record that came and went a reader stands, is no proof.
  void accuse_without_real_time() {
    Collector found(case_, /*tentative=*/true);
    sweep(case_, /*lean=*/false, found);
    for (const DoubleDelete& twice : writers_.double_deletes) {
      accuse(name_double_delete(case_, twice));
    }
    for (const DirectFinding& finding : found.findings) accuse(name_finding(case_, finding));
    const Graph graph(count_, found.edges);
    if (accuse_circles(graph, {}) || has_required(out_)) return;
    std::erase_if(found.choices, [this](const EitherOr& choice) {
      return (writers_.notes[choice.element] & kOpenDeleter) != 0;
    });
    const SettledChoices settled = settle(case_, graph, found.choices);
    if (settled.settled == Settled::kImpossible) {
      accuse_impossible(found.edges, found.choices, settled);
    }
  }

 private:
  enum class Fit : uint8_t {
    kYes,      // the verdict is set
    kNo,       // the options chosen for open elements are impossible
    kUnknown,  // they do not lead to a certificate
  };

  // Judges with the options now chosen for open elements.
  Fit attempt() {
    conflicts_.clear();
    Collector found(case_, tentative_);
    sweep(case_, /*lean=*/true, found);
    for (const DirectFinding& finding : found.findings) accuse(name_finding(case_, finding));
    std::vector<GraphEdge> edges = std::move(found.edges);
    add_real_time(case_, edges);
    out_.counts.edges = edges.size() + found.open_edges.size();
    out_.counts.leftovers = found.choices.size();
    if (tentative_) {
      const Graph firm(count_ * 2, edges);
      if (accuse_circles(firm, {}) || has_required(out_)) return Fit::kYes;
      if (firm_order_.empty()) firm_order_ = places(firm);
      for (const Observation& open : found.open_edges) edges.push_back({open.from, open.to});
      conflicts_ = std::move(found.contradicted);
    }
    const Graph graph(count_ * 2, edges);
    if (tentative_) {
      note_conflicts(graph, found.open_edges);
      if (!conflicts_.empty()) return Fit::kNo;
    }
    if (!tentative_ && (accuse_circles(graph, {}) || has_required(out_))) return Fit::kYes;
    return found.choices.empty() ? replay(graph) : settle_and_replay(graph, edges, found.choices);
  }

  Fit settle_and_replay(const Graph& graph, std::vector<GraphEdge>& edges,
                        const std::vector<EitherOr>& choices) {
    const SettledChoices settled = settle(case_, graph, choices);
    if (settled.settled == Settled::kGaveUp) {
      return undecided("too many records came and went while they were looked for");
    }
    const bool possible = settled.settled == Settled::kYes;
    if (!possible && tentative_) return Fit::kNo;
    if (!possible && accuse_impossible(edges, choices, settled)) return Fit::kYes;
    if (!possible) return undecided("no order fits, though each single choice is possible");
    for (const SettledSide side : settled.sides) {
      const Observation edge = side_of(choices[side.choice], side.reader_first);
      edges.push_back({edge.from, edge.to});
    }
    return replay(Graph(count_ * 2, edges));
  }

  // A choice of which neither side is possible: with one of them there is a circle to show. False
  // when there is none.
  bool accuse_impossible(std::vector<GraphEdge>& edges, const std::vector<EitherOr>& choices,
                         const SettledChoices& settled) {
    std::vector<Observation> sides{side_of(choices[settled.impossible], true)};
    for (const SettledSide side : settled.sides) {
      sides.push_back(side_of(choices[side.choice], side.reader_first));
    }
    for (const Observation& side : sides) edges.push_back({side.from, side.to});
    return accuse_circles(Graph(count_ * 2, edges), sides);
  }

  // For each circle, the open elements that have an edge in it.
  void note_conflicts(const Graph& graph, const std::vector<Observation>& open_edges) {
    const std::vector<std::vector<uint32_t>> components = graph.circles();
    if (components.empty()) return;
    std::vector<uint32_t> component_of(graph.size(), kNoNumber);
    for (uint32_t i = 0; i < components.size(); ++i) {
      for (const uint32_t node : components[i]) component_of[node] = i;
    }
    const std::size_t before = conflicts_.size();
    conflicts_.resize(before + components.size());
    for (const Observation& open : open_edges) {
      const uint32_t component = component_of[open.from];
      if (component == kNoNumber || component != component_of[open.to]) continue;
      conflicts_[before + component].push_back(open.element);
    }
  }

  // Whether there are circles.
  bool accuse_circles(const Graph& graph, const std::vector<Observation>& added) {
    std::vector<std::vector<uint32_t>> components = graph.circles();
    if (components.empty()) return false;
    if (writers_.unfinished_writes) {
      out_.verdict = Verdict::kCouldNotJudge;
      out_.reason = "a transaction that never ended wrote records, and may have committed or not";
      return true;
    }
    const std::vector<Circle> circles =
        pick_circles(case_, graph, std::move(components), added, case_.options.violations_max * 2);
    for (const Circle& circle : circles) accuse(name_circle(case_, circle));
    if (circles.empty()) undecided("there is a circle, but no short one was found");
    return true;
  }

  // An order that fits the graph; among what it leaves open, the one in which commits returned.
  std::vector<uint32_t> order_of(const Graph& graph) const {
    std::vector<uint32_t> priorities(graph.size());
    for (uint32_t node = 0; node < graph.size(); ++node) {
      priorities[node] = node < count_ ? node * 2 : (node - count_) * 2 + 1;
    }
    return graph.order(priorities);
  }

  // The place of each committed transaction in that order.
  std::vector<uint32_t> places(const Graph& graph) const {
    std::vector<uint32_t> places(count_);
    const std::vector<uint32_t> order = order_of(graph);
    for (uint32_t place = 0; place < order.size(); ++place) {
      if (order[place] < count_) places[order[place]] = place;
    }
    return places;
  }

  Fit replay(const Graph& graph) {
    const std::vector<uint32_t> order = order_of(graph);
    if (order.size() != graph.size()) return undecided("the order found is not complete");
    Model model(case_.numbering);
    for (const uint32_t node : order) {
      if (node >= count_ || !case_.rule(kRuleReplay)) continue;
      const std::string wrong = replay_one(model, case_.transactions.committed[node]);
      if (wrong.empty()) continue;
      return undecided("no circle was found, but the replay fails at " + wrong);
    }
    out_.verdict = Verdict::kCertified;
    out_.reason.clear();
    return Fit::kYes;
  }

  std::string replay_one(Model& model, const Transaction& transaction) const {
    const std::vector<Bound>& bounds = case_.numbering.bounds[transaction.thread];
    std::string wrong;
    model.begin();
    for_each_call(case_.history, transaction, [&](uint32_t position, const Event& event) {
      if (!wrong.empty()) return;
      const Mismatch mismatch = model.apply(event, bounds[position]);
      if (mismatch == Mismatch::kNone) return;
      wrong = place_text({transaction.thread, position}) + ": " + text_of(mismatch);
    });
    model.settle();
    return wrong;
  }

  void accuse(Violation violation) { add_violation(std::move(violation), case_.options, out_); }

  // What is undecided may be decided by other options.
  Fit undecided(std::string why) {
    out_.verdict = Verdict::kUndecided;
    out_.reason = std::move(why);
    return tentative_ ? Fit::kUnknown : Fit::kYes;
  }

  const Case& case_;
  Writers& writers_;
  Certification& out_;
  OpenOptions options_;
  const uint32_t count_;
  std::vector<uint32_t> firm_order_;  // places by what is not open
  bool tentative_ = false;            // the options chosen for open elements may be wrong
  std::vector<std::vector<uint32_t>> conflicts_;  // of open elements, in the last attempt
};

// Versions are not known: only a history small enough to try every order can be judged.
void search_instead(const History& history, const Transactions& transactions,
                    const std::string& problem, const CertifyOptions& options, Certification& out) {
  out.verdict = Verdict::kCouldNotJudge;
  out.reason = problem;
  if (transactions.committed.size() > kSearchedMax) return;
  const OrderSearch found = search_orders(history);
  const bool clean = found.dirty_reads.empty();
  const bool stale = !found.order && clean && search_orders(history, /*strict=*/false).order;
  out.without_real_time =
      clean && (found.order || stale) ? Verdict::kCertified : Verdict::kViolation;
  if (clean && (found.order || (stale && !options.strict))) {
    out.verdict = Verdict::kCertified;
    out.reason.clear();
  }
  if (clean && found.order) return;
  Violation violation;
  violation.name = found.order ? "dirty_read" : "internal";
  violation.detail = found.order ? "A record was seen before its transaction asked to commit it"
                                 : "No serial order of the transactions gives the recorded answers";
  if (stale) name_stale_read(violation);
  if (stale && !options.strict) violation.severity = Severity::kAdvisory;
  for (const Transaction& one : transactions.committed) {
    violation.transactions.push_back(span_of(one));
  }
  violation.events = found.dirty_reads;
  add_violation(std::move(violation), options, out);
}

void count(const History& history, const Transactions& transactions, CertificationCounts& counts) {
  counts.committed = transactions.committed.size();
  for (const Transaction& other : transactions.others) {
    ++(other.state == TransactionState::kFailed ? counts.failed : counts.unfinished);
  }
  for (const auto& events : history.threads) counts.events += events.size();
}

// Whether the history has a serial order at all: see relaxed_time.h.
bool has_some_order(History history, const CertifyOptions& options) {
  for (uint32_t i = 0; i < kMovesMax; ++i) {
    const Transactions transactions = split_into_transactions(history);
    const Numbering numbering(history);
    Writers writers(history, numbering, transactions, /*readers_are_late=*/true);
    const Case moved{history, numbering, transactions, writers, options};
    Certification found;
    if (i > 0) Certifier(moved, writers, found).run();
    if (found.verdict == Verdict::kCertified && !has_required(found)) return true;
    if (!move_back(moved, history)) return false;
  }
  return false;
}

void judge_without_real_time(const History& history, const Numbering& numbering,
                             const Transactions& transactions, Writers writers,
                             const CertifyOptions& options, Certification& out) {
  const std::size_t count = transactions.committed.size() + transactions.others.size();
  const bool is_long = count > options.without_real_time_max;
  for (const uint32_t element : writers.unsure) writers.notes[element] |= kOpenDeleter;
  CertifyOptions lax = options;
  lax.disabled_rules |= kRuleRealTime;
  if (is_long) lax.disabled_rules |= kRuleEitherOr;
  const Case lax_case{history, numbering, transactions, writers, lax};
  Certifier(lax_case, writers, out).accuse_without_real_time();
  if (has_required(out)) {
    out.verdict = Verdict::kViolation;
  } else if (is_long) {
    out.verdict = Verdict::kUndecided;
    out.reason = "without real time, no order of " + std::to_string(count) +
                 " transactions is searched for; of a shorter run, with up to " +
                 std::to_string(options.without_real_time_max) + ", one is";
  } else if (has_some_order(history, options)) {
    out.verdict = Verdict::kCertified;
    out.reason.clear();
  } else if (out.reason.empty()) {
    out.verdict = Verdict::kUndecided;
    out.reason =
        "without real time, no order was found that gives every answer; another run, best with "
        "fewer transactions, may have one";
  }
}

// An edge of real time shows best what a stale read is.
bool needs_real_time(const Violation& violation) {
  return std::any_of(violation.edges.begin(), violation.edges.end(),
                     [](const ViolationEdge& edge) { return edge.kind == EdgeKind::kRealTime; });
}

void show_real_time_first(std::vector<Violation>& violations) {
  std::vector<Violation> rest;
  std::vector<Violation> all = std::exchange(violations, {});
  for (Violation& violation : all) {
    (needs_real_time(violation) ? violations : rest).push_back(std::move(violation));
  }
  for (Violation& violation : rest) violations.push_back(std::move(violation));
}

// `out`: the violations of a history in real time; `lax`: those that need none, and the verdict.
void settle_severities(Certification lax, const CertifyOptions& options, Certification& out) {
  const bool is_serial = lax.verdict == Verdict::kCertified;
  std::vector<Violation> found = std::exchange(out.violations, {});
  bool lost = false;
  for (Violation& violation : found) {
    // Data that is lost, or gone by a transaction that failed, is no matter of order.
    const bool is_lost = violation.name == "missing_record" || violation.name == "aborted_read";
    lost |= is_lost;
    // There is an order: then whatever was found only says that it is not the one of real time.
    if (is_serial && !is_lost) name_stale_read(violation);
    if (!options.strict && !is_lost) violation.severity = Severity::kAdvisory;
  }
  if (is_serial) show_real_time_first(found);
  // One of each name is kept: the one that counts.
  if (!options.strict) found.swap(lax.violations);
  for (Violation& violation : found) add_violation(std::move(violation), options, out);
  for (Violation& violation : lax.violations) add_violation(std::move(violation), options, out);
  out.without_real_time = lost ? Verdict::kViolation : lax.verdict;
  if (!options.strict || !is_serial) out.reason = std::move(lax.reason);
  out.verdict = options.strict ? Verdict::kViolation : out.without_real_time;
}

void judge(const History& history, const Transactions& transactions, const CertifyOptions& options,
           Certification& out) {
  const Numbering numbering(history);
  Writers writers(history, numbering, transactions);
  if (!writers.problem.empty()) {
    search_instead(history, transactions, writers.problem, options, out);
    return;
  }
  const Certification before = out;
  const Case the_case{history, numbering, transactions, writers, options};
  Certifier(the_case, writers, out).run();
  out.without_real_time = out.verdict;
  if (!has_required(out) || has_required(before)) return;
  Certification lax = before;
  judge_without_real_time(history, numbering, transactions, std::move(writers), options, lax);
  settle_severities(std::move(lax), options, out);
}

// Where records stand that were inserted under a key that nobody knows is not known either.
std::string unknown_insert(const History& history) {
  for (const UnknownKey& at : history.unknown_arguments) {
    if (call_of(history.threads[at.thread][at.position]) != EventCall::kInsert) continue;
    return place_text({at.thread, at.position}) +
           ": the key that was passed is not among the history's keys";
  }
  return "";
}

}  // namespace

Certification certify(const History& history, const CertifyOptions& options) {
  Certification out;
  const Transactions transactions = split_into_transactions(history);
  out.reason = transactions.problem;
  if (!out.reason.empty()) return out;
  out.reason = unknown_insert(history);
  if (!out.reason.empty()) return out;
  count(history, transactions, out.counts);
  for (const WrongAnswer& wrong : transactions.wrong_answers) {
    add_violation(name_wrong_answer(wrong), options, out);
  }
  for (const UnknownKey& unknown : history.unknown_keys) {
    add_violation(name_unknown_key(unknown), options, out);
  }
  const bool is_wrong_anyway = has_required(out);
  judge(history, transactions, options, out);
  if (is_wrong_anyway) out.without_real_time = Verdict::kViolation;
  if (!history.cut_threads.empty()) {
    for (Verdict* verdict : {&out.verdict, &out.without_real_time}) {
      if (*verdict != Verdict::kCertified) continue;
      *verdict = Verdict::kCouldNotJudge;
      out.reason = "a log was full; nothing else was wrong up to there";
    }
  }
  if (has_required(out)) {
    out.verdict = Verdict::kViolation;
    const Verdict beyond = out.without_real_time;
    if (beyond == Verdict::kViolation || beyond == Verdict::kCertified) out.reason.clear();
  }
  return out;
}

}  // namespace keydrome
