#include "checker/certify.h"

#include <algorithm>
#include <utility>

#include "checker/circles.h"
#include "checker/model.h"
#include "checker/naming.h"
#include "checker/open_options.h"
#include "checker/precedence.h"
#include "checker/rules.h"
#include "checker/search_orders.h"

namespace keydrome {
namespace {

// Histories with so few committed transactions are searched when their versions are not known.
constexpr std::size_t kSearchedMax = 9;

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
  Collector(const Writers& writers, bool tentative) : writers_(writers), tentative_(tentative) {}

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
      contradicted.push_back({found.element});
    } else {
      findings.push_back(found);
    }
  }

  std::vector<GraphEdge> edges;
  std::vector<Observation> open_edges;
  std::vector<EitherOr> choices;
  std::vector<DirectFinding> findings;
  std::vector<std::vector<uint32_t>> contradicted;  // open elements whose option is wrong

 private:
  bool is_open(uint32_t element) const {
    return tentative_ && (writers_.notes[element] & kOpenDeleter) != 0;
  }

  const Writers& writers_;
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

  // With kRuleRealTime off. An absence whose record came and went is then explained on either side;
  // the side that real time suggests is tried, and the replay decides.
  void run_without_real_time() {
    Collector found(writers_, /*tentative=*/true);
    sweep(case_, /*lean=*/false, found);
    for (const DoubleDelete& twice : writers_.double_deletes) {
      accuse(name_double_delete(case_, twice));
    }
    for (const DirectFinding& finding : found.findings) accuse(name_finding(case_, finding));
    std::vector<GraphEdge> edges = std::move(found.edges);
    if (accuse_circles(Graph(count_, edges), {}) || has_required(out_)) return;
    for (const Observation& open : found.open_edges) edges.push_back({open.from, open.to});
    for (const EitherOr& choice : found.choices) {
      const std::vector<Transaction>& committed = case_.transactions.committed;
      const bool gone = committed[choice.inserter].end < committed[choice.reader].begin;
      const Observation side = side_of(choice, !gone);
      edges.push_back({side.from, side.to});
    }
    replay(Graph(count_, edges));
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
    Collector found(writers_, tentative_);
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
    std::vector<Observation> sides;
    for (const SettledSide side : settled.sides) {
      sides.push_back(side_of(choices[side.choice], side.reader_first));
    }
    // With one side of an impossible choice there is a circle to show.
    if (!possible) sides.push_back(side_of(choices[settled.impossible], true));
    for (const Observation& side : sides) edges.push_back({side.from, side.to});
    const Graph extended(count_ * 2, edges);
    if (possible) return replay(extended);
    if (accuse_circles(extended, sides)) return Fit::kYes;
    return undecided("no order fits, though each single choice is possible");
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
  const OrderSearch found = search_orders(history, options.strict);
  if (found.order && found.dirty_reads.empty()) {
    out.verdict = Verdict::kCertified;
    out.reason.clear();
    return;
  }
  Violation violation;
  violation.name = found.order ? "dirty_read" : "internal";
  violation.detail = found.order ? "A record was seen before its transaction asked to commit it"
                                 : "No serial order of the transactions gives the recorded answers";
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

void judge(const History& history, const Transactions& transactions, const CertifyOptions& options,
           Certification& out) {
  const Numbering numbering(history);
  Writers writers(history, numbering, transactions);
  if (!writers.problem.empty()) {
    search_instead(history, transactions, writers.problem, options, out);
    return;
  }
  CertifyOptions strict = options;
  strict.strict = true;
  const Case strict_case{history, numbering, transactions, writers, strict};
  Certification strict_out = out;
  Certifier(strict_case, writers, strict_out).run();
  if (options.strict || !has_required(strict_out)) {
    out = std::move(strict_out);
    return;
  }
  for (const uint32_t element : writers.unsure) writers.notes[element] |= kOpenDeleter;
  CertifyOptions lax = options;
  lax.disabled_rules |= kRuleRealTime;
  const Case lax_case{history, numbering, transactions, writers, lax};
  Certifier(lax_case, writers, out).run_without_real_time();
  out.counts = strict_out.counts;
  for (Violation& violation : strict_out.violations) {
    // Data that is lost, or gone by a transaction that failed, is no matter of order.
    const bool lost = violation.name == "missing_record" || violation.name == "aborted_read";
    if (!lost) violation.severity = Severity::kAdvisory;
    add_violation(std::move(violation), options, out);
  }
}

}  // namespace

Certification certify(const History& history, const CertifyOptions& options) {
  Certification out;
  const Transactions transactions = split_into_transactions(history);
  out.reason = transactions.problem;
  if (!out.reason.empty()) return out;
  count(history, transactions, out.counts);
  for (const WrongAnswer& wrong : transactions.wrong_answers) {
    add_violation(name_wrong_answer(wrong), options, out);
  }
  for (const UnknownKey& unknown : history.unknown_keys) {
    add_violation(name_unknown_key(unknown), options, out);
  }
  judge(history, transactions, options, out);
  if (has_required(out)) {
    out.verdict = Verdict::kViolation;
    out.reason.clear();
  } else if (out.verdict == Verdict::kCertified && !history.cut_threads.empty()) {
    out.verdict = Verdict::kCouldNotJudge;
    out.reason = "a log was full; nothing was wrong up to there";
  }
  return out;
}

}  // namespace keydrome
