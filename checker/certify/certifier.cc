// Implements certifier.h: judges a history, given the inserter and the deleter of each record
// (versions.h). It makes one or more attempts. Each attempt has four steps:
// 1. Collect the dependencies between transactions.
// 2. Report their cycles, which are violations. A cycle that depends on a current deleter (see
//    below) is no violation: it only shows that another deleter must be tried.
// 3. Take one edge of each Choice. A Choice is a pair of edges of which at least one must hold
//    (dependencies.h). The code calls the two edges of a Choice its *sides*.
// 4. Replay the transactions on the sequential model (model/model.h), in an order that fits all
//    edges.
// Some records, called open elements, have several possible deleters. For each open element, an
// attempt assumes one of them, which is called the element's *current deleter*. If an attempt finds
// no serial order, further attempts assume other deleters.
#include "checker/certify/certifier.h"

#include <algorithm>
#include <utility>

#include "base/keydrome_error.h"
#include "checker/certify/anomalies.h"
#include "checker/certify/cycles.h"
#include "checker/certify/open_options.h"
#include "checker/certify/precedence.h"
#include "checker/certify/rules.h"
#include "checker/model/model.h"

namespace keydrome::certify {

using history::Bound;
using history::Event;
using history::EventRef;
using history::kNoNumber;
using history::Transaction;
using model::Mismatch;
using model::Model;

namespace {

// Collects what find_dependencies() finds. Edges and findings that depend on the current deleter of
// an open element have lists of their own, because they prove nothing while other deleters are
// possible.
class Collector : public DependencySink {
 public:
  // Set `tentative` if the current deleters of open elements may be wrong.
  Collector(const Context& context, bool tentative) : context_(context), tentative_(tentative) {}

  void add_edge(const Observation& seen) override {
    if (is_open(seen.element) && seen.kind != EdgeKind::kWriteRead) {
      open_edges.push_back(seen);
    } else if (context_.is_unfinished_element(seen.element)) {
      unfinished_edges.push_back({seen.from, seen.to});
    } else {
      edges.push_back({seen.from, seen.to});
    }
  }
  void add_choice(const Choice& choice) override { choices.push_back(choice); }
  void add_finding(const DirectFinding& found) override {
    if (found.is_about_deleter && found.element != kNoNumber && is_open(found.element)) {
      contradicted.push_back(suspects(found));
    } else {
      findings.push_back(found);
    }
  }

  std::vector<GraphEdge> edges;
  std::vector<Observation> open_edges;
  // A transaction whose end is not in the history may have committed. So the edges about the keys
  // of the records that it wrote prove nothing.
  std::vector<GraphEdge> unfinished_edges;
  std::vector<Choice> choices;
  std::vector<DirectFinding> findings;
  // Groups of open elements. In each group at least one element has a wrong current deleter, if the
  // library made no error.
  std::vector<std::vector<uint32_t>> contradicted;

 private:
  // Returns a group for `contradicted`. `found` may say that a delete of all payloads of a key
  // found no payload. The group then contains every open element that this delete may have deleted.
  // Otherwise the group contains the element of `found`.
  std::vector<uint32_t> suspects(const DirectFinding& found) const {
    std::vector<uint32_t> elements;
    const std::vector<uint32_t>& cells = context_.numbering.element_cells;
    for (const OpenElement& open : context_.versions.open) {
      if (found.blind_deleter == kNoNumber || cells[open.element] != cells[found.element]) continue;
      if (std::ranges::count(open.options, found.blind_deleter) == 0) continue;
      elements.push_back(open.element);
    }
    if (elements.empty()) elements.push_back(found.element);
    return elements;
  }

  bool is_open(uint32_t element) const {
    return tentative_ && (context_.versions.notes[element] & kOpenDeleter) != 0;
  }

  const Context& context_;
  const bool tentative_;
};

// Returns an order of the graph's nodes that fits all its edges. The nodes are `count` transactions
// and their time nodes, which represent real time (precedence.h). If the edges allow several
// transactions to come next, the order continues with the one that returned first.
std::vector<uint32_t> order_of(const Graph& graph, uint32_t count) {
  std::vector<uint32_t> priorities(graph.size());
  for (uint32_t node = 0; node < graph.size(); ++node) {
    priorities[node] = node < count ? node * 2 : (node - count) * 2 + 1;
  }
  return graph.order(priorities);
}

// Returns the position of each committed transaction in the order of order_of().
std::vector<uint32_t> places_in_order(const Graph& graph, uint32_t count) {
  std::vector<uint32_t> places(count);
  const std::vector<uint32_t> order = order_of(graph, count);
  for (uint32_t place = 0; place < order.size(); ++place) {
    if (order[place] < count) places[order[place]] = place;
  }
  return places;
}

// Replays one transaction on the model. Returns a text that names the first wrong call and says
// what is wrong, or "" if all results are right.
std::string replay_one(const Context& context, const Transaction& transaction, Model& model) {
  const std::vector<Bound>& bounds = context.numbering.bounds[transaction.thread];
  std::string wrong;
  model.begin();
  for_each_call(context.history, transaction, [&](uint32_t position, const Event& event) {
    if (!wrong.empty()) return;
    const Mismatch mismatch = model.apply(event, bounds[position]);
    if (mismatch == Mismatch::kNone) return;
    const EventRef call{transaction.thread, position};
    wrong = place_text(call) + ": " + result_text(context.history, call) + ", but in this order " +
            text_of(mismatch, call_of(event));
  });
  model.settle();
  return wrong;
}

// Replays the transactions in an order that fits the graph. Returns a text that says what is wrong,
// or "" if all results are right.
std::string replay(const Context& context, const Graph& graph) {
  const auto count = static_cast<uint32_t>(context.transactions.committed.size());
  const std::vector<uint32_t> order = order_of(graph, count);
  if (order.size() != graph.size())
    return std::string(
               "the checker found no complete order of the transactions, although no cycle forbids "
               "one; ") +
           kReportError + " with the history";
  Model model(context.numbering);
  for (const uint32_t node : order) {
    if (node >= count || !context.rule(kRuleReplay)) continue;
    const std::string wrong = replay_one(context, context.transactions.committed[node], model);
    if (!wrong.empty())
      return "the checker could not decide, because one result does not fit the serial order that "
             "it found: " +
             wrong + "; repeat the run";
  }
  return "";
}

// Adds one group to `conflicts` for each strongly connected component of the graph. The group
// contains the open elements that have an edge in this component.
void add_conflicts(const Graph& graph, const std::vector<Observation>& open_edges,
                   std::vector<std::vector<uint32_t>>& conflicts) {
  const std::vector<std::vector<uint32_t>> components = graph.components();
  if (components.empty()) return;
  std::vector<uint32_t> component_of(graph.size(), kNoNumber);
  for (uint32_t i = 0; i < components.size(); ++i) {
    for (const uint32_t node : components[i]) component_of[node] = i;
  }
  const std::size_t before = conflicts.size();
  conflicts.resize(before + components.size());
  for (const Observation& open : open_edges) {
    const uint32_t component = component_of[open.from];
    if (component == kNoNumber || component != component_of[open.to]) continue;
    conflicts[before + component].push_back(open.element);
  }
}

void append(const std::vector<GraphEdge>& more, std::vector<GraphEdge>& edges) {
  edges.insert(edges.end(), more.begin(), more.end());
}

// Returns the first event of each transaction, in an order that fits all edges of the graph.
std::vector<EventRef> first_events(const Context& context, const Graph& graph) {
  const std::vector<Transaction>& committed = context.transactions.committed;
  std::vector<EventRef> events;
  for (const uint32_t node : order_of(graph, static_cast<uint32_t>(committed.size()))) {
    if (node < committed.size()) events.push_back({committed[node].thread, committed[node].first});
  }
  return events;
}

// Returns the position of each committed transaction in an order that fits `edges`. The reads of
// open elements give further Choices (OpenOptions::reads()). The order also fits the sides of these
// Choices that settle() (precedence.h) could take.
std::vector<uint32_t> likely_order(const Context& context, const OpenOptions& options,
                                   std::vector<GraphEdge> edges) {
  const auto count = static_cast<uint32_t>(context.transactions.committed.size());
  for (const Precedence& early : context.versions.too_early) {
    edges.push_back({early.deleter, early.inserter});
  }
  const std::vector<Choice> reads = options.reads(context.transactions.committed);
  for (const SettledSide side : settle(context, Graph(count * 2, edges), reads).sides) {
    const Observation edge = side_of(reads[side.choice], side.reader_first);
    edges.push_back({edge.from, edge.to});
  }
  return places_in_order(Graph(count * 2, edges), count);
}

// Returns the reason why no verdict was found in a long history, with what to do.
std::string with_remedy(const std::string& why) { return why + ": " + kShorterRun; }

// Judges one history. For run(), a serial order must respect real time: if T1 had returned before
// T2 began, T1 precedes T2. report_without_real_time() ignores real time.
class Certifier {
 public:
  Certifier(const Context& context, Versions& versions, Certification& out)
      : context_(context),
        versions_(versions),
        out_(out),
        options_(versions, context.options.deleter_tries_max),
        count_(static_cast<uint32_t>(context.transactions.committed.size())) {}

  void run() {
    for (const DoubleDelete& twice : versions_.double_deletes) {
      if (context_.rule(kRuleDoubleDelete)) report(describe_double_delete(context_, twice));
    }
    tentative_ = !options_.empty();
    Fit fit = attempt();
    bool all_impossible = fit == Fit::kNo;
    while (fit != Fit::kYes && options_.next(conflicts_, likely_order_)) {
      fit = attempt();
      all_impossible &= fit == Fit::kNo;
    }
    if (fit != Fit::kYes && all_impossible && options_.exhausted()) {
      // No combination of deleters fits, so the library made an error, which this attempt reports.
      tentative_ = false;
      attempt();
    } else if (fit != Fit::kYes) {
      undecided(
          with_remedy("for some records it is not known which deleteRecord call deleted them, and "
                      "no combination of calls that was tried fits all results"));
    }
  }

  void report_without_real_time() {
    Collector found(context_, /*tentative=*/true);
    find_dependencies(context_, /*lean=*/false, found);
    for (const DoubleDelete& twice : versions_.double_deletes) {
      report(describe_double_delete(context_, twice));
    }
    for (const DirectFinding& finding : found.findings) report(describe_finding(context_, finding));
    if (report_despite_unfinished(found.edges, found.choices, count_)) return;
    append(found.unfinished_edges, found.edges);
    const Graph graph(count_, found.edges);
    if (report_cycles(graph, {}) || has_required(out_)) return;
    std::erase_if(found.choices, [this](const Choice& choice) {
      return (versions_.notes[choice.element] & kOpenDeleter) != 0;
    });
    const SettledChoices settled = settle(context_, graph, found.choices);
    if (settled.settled == Settled::kImpossible) {
      report_impossible(found.edges, found.choices, settled);
    }
  }

 private:
  enum class Fit : uint8_t {
    kYes,      // done: `out` has the verdict or required violations
    kNo,       // the current deleters of open elements fit no serial order
    kUnknown,  // neither a serial order nor a contradiction was found
  };

  // Judges the history with the current deleters of open elements.
  Fit attempt() {
    conflicts_.clear();
    Collector found(context_, tentative_);
    find_dependencies(context_, /*lean=*/true, found);
    for (const DirectFinding& finding : found.findings) report(describe_finding(context_, finding));
    std::vector<GraphEdge> edges = std::move(found.edges);
    add_real_time(context_, edges);
    if (report_despite_unfinished(edges, found.choices, count_ * 2)) return Fit::kYes;
    append(found.unfinished_edges, edges);
    out_.counts.edges = edges.size() + found.open_edges.size();
    out_.counts.leftovers = found.choices.size();
    if (tentative_) {
      const Graph firm(count_ * 2, edges);
      if (report_cycles(firm, {}) || has_required(out_)) return Fit::kYes;
      if (likely_order_.empty()) likely_order_ = likely_order(context_, options_, edges);
      for (const Observation& open : found.open_edges) edges.push_back({open.from, open.to});
      conflicts_ = std::move(found.contradicted);
    }
    const Graph graph(count_ * 2, edges);
    if (tentative_) {
      add_conflicts(graph, found.open_edges, conflicts_);
      if (!conflicts_.empty()) return Fit::kNo;
    } else if (report_cycles(graph, {}) || has_required(out_)) {
      return Fit::kYes;
    }
    return found.choices.empty() ? certify_order(graph)
                                 : settle_and_certify(graph, edges, found.choices);
  }

  Fit settle_and_certify(const Graph& graph, std::vector<GraphEdge>& edges,
                         const std::vector<Choice>& choices) {
    const SettledChoices settled = settle(context_, graph, choices);
    if (settled.settled == Settled::kGaveUp) {
      return undecided(
          with_remedy("the search for a serial order was stopped, because too many records were "
                      "inserted and deleted while other transactions looked for them"));
    }
    const bool possible = settled.settled == Settled::kYes;
    if (!possible && tentative_) return Fit::kNo;
    if (!possible && report_impossible(edges, choices, settled)) return Fit::kYes;
    if (!possible) {
      return undecided(with_remedy(
          "the checker found no serial order, and no proof that none exists: it knows of no "
          "transactions that must precede each other in a cycle"));
    }
    for (const SettledSide side : settled.sides) {
      const Observation edge = side_of(choices[side.choice], side.reader_first);
      edges.push_back({edge.from, edge.to});
    }
    return certify_order(Graph(count_ * 2, edges));
  }

  Fit certify_order(const Graph& graph) {
    std::string wrong = replay(context_, graph);
    if (!wrong.empty()) return undecided(std::move(wrong));
    out_.verdict = Verdict::kCertified;
    out_.reason.clear();
    if (context_.options.keep_order) out_.order = first_events(context_, graph);
    return Fit::kYes;
  }

  // If a transaction whose end is not in the history wrote records, reports the violations about
  // keys that it did not write. They exist whether the transaction committed or not. Returns true
  // if there is a required violation.
  bool report_despite_unfinished(const std::vector<GraphEdge>& edges, std::vector<Choice> choices,
                                 uint32_t nodes) {
    if (!versions_.unfinished_writes) return false;
    unfinished_matters_ = false;
    const Graph graph(nodes, edges);
    bool found = report_cycles(graph, {});
    if (!found) {
      std::erase_if(choices, [this](const Choice& choice) {
        const bool open = (versions_.notes[choice.element] & kOpenDeleter) != 0;
        return context_.is_unfinished_element(choice.element) || (open && tentative_);
      });
      const SettledChoices settled = settle(context_, graph, choices);
      std::vector<GraphEdge> all = edges;
      found = settled.settled == Settled::kImpossible && report_impossible(all, choices, settled);
    }
    unfinished_matters_ = true;
    return found && has_required(out_);
  }

  // Reports a violation if settle() found that both sides of the choice `settled.impossible` are
  // impossible. Adds one of these sides and all settled sides to the graph, and reports the cycles
  // that result. Returns false if there is no cycle.
  bool report_impossible(std::vector<GraphEdge>& edges, const std::vector<Choice>& choices,
                         const SettledChoices& settled) {
    std::vector<Observation> sides{side_of(choices[settled.impossible], true)};
    for (const SettledSide side : settled.sides) {
      sides.push_back(side_of(choices[side.choice], side.reader_first));
    }
    for (const Observation& side : sides) edges.push_back({side.from, side.to});
    return report_cycles(Graph(count_ * 2, edges), sides);
  }

  // Reports the graph's cycles. Returns true if there are any. If the cycles may depend on the
  // unknown outcome of a transaction that never ended, sets the verdict kCouldNotJudge instead.
  bool report_cycles(const Graph& graph, const std::vector<Observation>& added) {
    std::vector<std::vector<uint32_t>> components = graph.components();
    if (components.empty()) return false;
    if (versions_.unfinished_writes && unfinished_matters_) {
      out_.verdict = Verdict::kCouldNotJudge;
      out_.reason =
          "no serial order fits the results, but a transaction that never ended wrote records, and "
          "it is unknown whether they were committed: repeat the run so that all transactions end";
      return true;
    }
    const std::vector<Cycle> cycles = pick_cycles(context_, graph, std::move(components), added,
                                                  context_.options.violations_max * 2, tentative_);
    for (const Cycle& cycle : cycles) report(describe_cycle(context_, cycle));
    if (cycles.empty())
      undecided(with_remedy(
          "there is probably a violation, because some transactions must precede each other in "
          "a cycle; but no cycle is short enough to report as a proof"));
    return true;
  }

  void report(Violation violation) { add_violation(std::move(violation), context_.options, out_); }

  // Sets the verdict kUndecided. Returns kUnknown if the current deleters may be wrong, because an
  // attempt with other deleters may still find a verdict. Otherwise returns kYes: no further
  // attempt would help.
  Fit undecided(std::string why) {
    out_.verdict = Verdict::kUndecided;
    out_.reason = std::move(why);
    return tentative_ ? Fit::kUnknown : Fit::kYes;
  }

  const Context& context_;
  Versions& versions_;
  Certification& out_;
  OpenOptions options_;
  const uint32_t count_;
  // By transaction: its position in likely_order().
  std::vector<uint32_t> likely_order_;
  bool tentative_ = false;  // true while the current deleters of open elements may be wrong
  // False while the graph lacks Collector::unfinished_edges.
  bool unfinished_matters_ = true;
  std::vector<std::vector<uint32_t>> conflicts_;  // groups of open elements of the last attempt
};

}  // namespace

void judge(const Context& context, Versions& versions, Certification& out) {
  Certifier(context, versions, out).run();
}

void report_without_real_time(const Context& context, Versions& versions, Certification& out) {
  Certifier(context, versions, out).report_without_real_time();
}

void add_violation(Violation violation, const CertifyOptions& options, Certification& out) {
  const auto has_name = [&](const Violation& other) { return other.name == violation.name; };
  if (std::ranges::none_of(out.violations, has_name) &&
      out.violations.size() < options.violations_max) {
    out.violations.push_back(std::move(violation));
  }
}

bool has_required(const Certification& certification) {
  return std::ranges::any_of(certification.violations, [](const Violation& violation) {
    return violation.severity == Severity::kRequired;
  });
}

}  // namespace keydrome::certify
