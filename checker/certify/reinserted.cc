// Implements reinserted.h: judges histories in which the same record was inserted more than once.
// An *element* is the number of a record, a *cell* the number of a key (numbering.h).
#include "checker/certify/reinserted.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "checker/certify/anomalies.h"
#include "checker/certify/certifier.h"
#include "checker/certify/edges/edge_text.h"
#include "checker/certify/rules.h"
#include "checker/model/search_orders.h"

namespace keydrome::certify {

using history::Event;
using history::EventCall;
using history::Transaction;
using history::TransactionSpan;
using history::TransactionState;
using model::OrderSearch;

namespace {

// Limits of the search for a serial order. kSearchedMax limits the number of transactions, because
// the search recurses once for each. kTriesMax limits the time: 100,000 tries take about 0.1 s.
constexpr std::size_t kSearchedMax = 1'000;
constexpr uint64_t kTriesMax = 100'000;

// Counts how often each record was inserted, and how often it can have been deleted.
class WriteCounts {
 public:
  explicit WriteCounts(const Context& context)
      : context_(context),
        inserts_(context.numbering.element_cells.size()),
        deletes_(inserts_.size()),
        key_deletes_(context.numbering.cells.size()) {
    for (const Transaction& writer : context.transactions.committed) count(writer);
    for (const Transaction& writer : context.transactions.others) {
      // An unfinished transaction may have committed, so its deletes may have made room for an
      // insert.
      if (writer.state == TransactionState::kUnfinished) count(writer);
    }
  }

  // Adds a violation for the first record that was inserted again without having been deleted.
  void report(Certification& out) const {
    for (uint32_t element = 0; element < inserts_.size(); ++element) {
      const uint32_t cell = context_.numbering.element_cells[element];
      if (inserts_[element] <= 1 + deletes_[element] + key_deletes_[cell]) continue;
      Violation violation;
      violation.name = "wrong_insert";
      violation.detail =
          "insertRecord stored the same record again, although no delete can have removed it; at "
          "least one of the calls should have returned ENTRY_EXISTS: " +
          record_text(context_, element);
      for (const Transaction& writer : context_.transactions.committed) {
        cite(writer, element, violation);
      }
      return add_violation(std::move(violation), context_.options, out);
    }
  }

 private:
  void count(const Transaction& writer) {
    const bool committed = writer.state == TransactionState::kCommitted;
    for_each_call(context_.history, writer, [&](uint32_t position, const Event& event) {
      if (!succeeded(event)) return;
      const history::Bound bound = context_.numbering.bounds[writer.thread][position];
      const EventCall call = call_of(event);
      if (call == EventCall::kInsert && committed) ++inserts_[bound.element];
      if (call == EventCall::kDeletePair) ++deletes_[bound.element];
      if (call == EventCall::kDeleteKey) ++key_deletes_[bound.cell];
    });
  }

  // Adds the inserts of the element by this transaction to the violation.
  void cite(const Transaction& writer, uint32_t element, Violation& violation) const {
    const std::size_t before = violation.events.size();
    for_each_call(context_.history, writer, [&](uint32_t position, const Event& event) {
      if (call_of(event) == EventCall::kInsert && succeeded(event) &&
          context_.numbering.bounds[writer.thread][position].element == element) {
        violation.events.push_back({writer.thread, position});
      }
    });
    if (violation.events.size() > before) violation.transactions.push_back(span_of(writer));
  }

  const Context& context_;
  std::vector<uint32_t> inserts_, deletes_;  // by element
  std::vector<uint32_t> key_deletes_;        // by cell
};

// Adds the findings about one transaction alone: its scans went backwards or returned a record
// twice, or it did not see its own writes.
class OwnFindings : public DependencySink {
 public:
  OwnFindings(const Context& context, Certification& out) : context_(context), out_(out) {}

  void add_edge(const Observation& /*seen*/) override {}
  void add_choice(const Choice& /*choice*/) override {}
  void add_finding(const DirectFinding& found) override {
    const std::string_view name = found.name;
    if (name != "duplicate_record" && name != "wrong_order" && name != "internal") return;
    add_violation(describe_finding(context_, found), context_.options, out_);
  }

 private:
  const Context& context_;
  Certification& out_;
};

// Gives each insert of a record that was inserted several times an element of its own.
class Splitter {
 public:
  Splitter(const history::History& history, const history::Transactions& transactions,
           history::Numbering& numbering)
      : history_(history), transactions_(transactions), numbering_(numbering) {}

  bool run() {
    std::vector<uint32_t> counts(numbering_.element_cells.size());
    visit_inserts([&](const Insert& /*insert*/, uint32_t element) { ++counts[element]; });
    // The committed transactions are visited in the order in which they returned.
    visit_inserts([&](const Insert& insert, uint32_t element) {
      if (counts[element] > 1) inserts_[element].push_back(insert);
    });
    numbering_.earlier.assign(numbering_.element_cells.size(), history::kNoNumber);
    for (auto& [element, inserts] : inserts_) {
      if (!number(element, inserts)) return false;
    }
    return std::ranges::all_of(transactions_.committed,
                               [this](const Transaction& one) { return rename(one); }) &&
           std::ranges::all_of(transactions_.others,
                               [this](const Transaction& one) { return rename(one); });
  }

 private:
  struct Insert {
    const Transaction* transaction;
    uint32_t position;
    uint32_t element = history::kNoNumber;
  };

  template <typename Visit>
  void visit_inserts(Visit&& visit) const {
    for (const Transaction& writer : transactions_.committed) {
      for_each_call(history_, writer, [&](uint32_t position, const Event& event) {
        if (call_of(event) != EventCall::kInsert || !succeeded(event)) return;
        visit(Insert{&writer, position}, numbering_.bounds[writer.thread][position].element);
      });
    }
  }

  // Assigns an element of its own to each insert after the first. Returns false if the transactions
  // of two inserts overlap, because the order of the inserts is then unknown.
  bool number(uint32_t element, std::vector<Insert>& inserts) {
    inserts[0].element = element;
    for (std::size_t i = 1; i < inserts.size(); ++i) {
      if (inserts[i].transaction->begin <= inserts[i - 1].transaction->end) return false;
      inserts[i].element = static_cast<uint32_t>(numbering_.element_cells.size());
      numbering_.element_cells.push_back(numbering_.element_cells[element]);
      numbering_.earlier.push_back(inserts[i - 1].element);
    }
    return true;
  }

  // In each call of a transaction, replaces the element by the element of the insert that the call
  // saw. Returns false if it is unknown which insert a call saw. This happens if a transaction that
  // overlaps this one inserted the record of the call again.
  bool rename(const Transaction& transaction) {
    bool known = true;
    for_each_call(history_, transaction, [&](uint32_t position, const Event& /*event*/) {
      uint32_t& element = numbering_.bounds[transaction.thread][position].element;
      const auto found = inserts_.find(element);
      if (found == inserts_.end()) return;
      uint32_t renamed = element;
      for (std::size_t i = 1; i < found->second.size(); ++i) {
        const Insert& insert = found->second[i];
        const Transaction& writer = *insert.transaction;
        if (&writer == &transaction) {
          if (position >= insert.position) renamed = insert.element;
        } else if (writer.end < transaction.begin) {
          renamed = insert.element;
        } else {
          known &= transaction.end < writer.begin;
        }
      }
      element = renamed;
    });
    return known;
  }

  const history::History& history_;
  const history::Transactions& transactions_;
  history::Numbering& numbering_;
  std::map<uint32_t, std::vector<Insert>> inserts_;  // by element, only if it has several inserts
};

void report_own_findings(const Context& context, Certification& out) {
  // These rules need to know which transactions inserted and deleted a record. Here this is
  // unknown, so the rules are switched off.
  constexpr uint32_t kRulesOfVersions =
      kRuleDeleteAll | kRuleRealTime | kRuleAborted | kRuleDirty | kRuleIntermediate;
  CertifyOptions options = context.options;
  options.disabled_rules |= kRulesOfVersions;
  const Context own{context.history, context.numbering, context.transactions, context.versions,
                    options};
  OwnFindings findings(own, out);
  find_dependencies(own, /*lean=*/true, findings);
}

// Says that no serial order exists. `all` is false if only those that respect real time were tried.
std::string no_order_text(bool all) {
  return std::string("All serial orders of these transactions ") +
         (all ? "" : "that respect real time ") + "were tried, and none gives all of their results";
}

// Returns the violation that search_orders() found. `relaxed` is the search for an order that
// contradicts real time. If it found one, every order contradicts real time.
Violation violation_of_search(const Context& context, const OrderSearch& found,
                              const OrderSearch& relaxed) {
  const bool stale = relaxed.order.has_value();
  Violation violation;
  violation.name = found.order ? "dirty_read" : "internal";
  violation.detail = found.order
                         ? "A transaction saw a record before its writer called commitTransaction"
                         : no_order_text(found.dirty_reads.empty() && !relaxed.gave_up);
  if (stale) rename_as_stale_read(violation);
  if (stale && !context.options.strict) violation.severity = Severity::kAdvisory;
  for (const Transaction& one : context.transactions.committed) {
    violation.transactions.push_back(span_of(one));
  }
  violation.events = found.dirty_reads;
  if (!violation.events.empty()) {
    violation.detail += ": " + result_text(context.history, violation.events.front());
  }
  return violation;
}

void keep_order(const Context& context, const OrderSearch& search, Certification& out) {
  if (!context.options.keep_order) return;
  for (const TransactionSpan& span : *search.order) out.order.push_back({span.thread, span.first});
}

// Searches for a serial order that contradicts real time. Does so only if no order respects real
// time and no read is dirty. In the other cases the verdict is known without such an order.
OrderSearch search_without_real_time(const Context& context, const OrderSearch& strict) {
  if (strict.order || !strict.dirty_reads.empty()) return {};
  return model::search_orders(context.history, /*strict=*/false, kTriesMax);
}

// Says what is known if the search without real time ended before it had tried all orders.
std::string gave_up_text() {
  return "no serial order that respects real time explains the results; the search for one that "
         "contradicts real time was stopped after " +
         std::to_string(kTriesMax) + " tries";
}

// Tries the serial orders and sets the verdict. If there are too many transactions or orders,
// leaves the verdict kCouldNotJudge, which judge_reinserted() has set.
void search(const Context& context, Certification& out) {
  if (context.transactions.committed.size() > kSearchedMax) return;
  const bool strict = context.options.strict;
  const OrderSearch found = model::search_orders(context.history, /*strict=*/true, kTriesMax);
  if (found.gave_up) return;
  const OrderSearch relaxed = search_without_real_time(context, found);
  const bool stale = relaxed.order.has_value();
  const bool serial = found.dirty_reads.empty() && (found.order || stale);
  out.without_real_time = relaxed.gave_up ? Verdict::kUndecided : Verdict::kViolation;
  if (serial) out.without_real_time = Verdict::kCertified;
  if (serial && !(stale && strict)) {
    out.verdict = Verdict::kCertified;
    out.reason.clear();
    keep_order(context, stale ? relaxed : found, out);
  }
  if (serial && !stale) return;
  if (relaxed.gave_up) {
    if (!strict) return;
    out.reason = gave_up_text();
  }
  add_violation(violation_of_search(context, found, relaxed), context.options, out);
}

}  // namespace

bool split_reinserted(const history::History& history, const history::Transactions& transactions,
                      history::Numbering& numbering) {
  return Splitter(history, transactions, numbering).run();
}

void report_wrong_inserts(const Context& context, Certification& out) {
  WriteCounts(context).report(out);
}

void judge_reinserted(const Context& context, Certification& out) {
  out.verdict = Verdict::kCouldNotJudge;
  out.reason = context.versions.problem;
  const std::size_t before = out.violations.size();
  report_wrong_inserts(context, out);
  report_own_findings(context, out);
  if (out.violations.size() == before) return search(context, out);
  out.without_real_time = Verdict::kViolation;
}

}  // namespace keydrome::certify
