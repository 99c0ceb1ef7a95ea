// Implements report.h: writes the result of certify(), which judges a recorded history, as text for
// a terminal and as JSON. docs/reference/history-format.md describes the fields of the JSON.
#include "checker/witness/report.h"

#include <algorithm>
#include <cstdio>

#include "checker/history/calls.h"
#include "checker/history/transactions.h"
#include "checker/names.h"
#include "checker/witness/witness.h"
#include "checker/witness/wording.h"

namespace keydrome::witness {

using certify::Certification;
using certify::Coverage;
using certify::EdgeKind;
using certify::Verdict;
using certify::Violation;
using certify::ViolationEdge;
using history::Event;
using history::EventCall;
using history::EventRef;
using history::History;
using history::TransactionSpan;
using history::TransactionState;

namespace {

std::string payload_text(uint64_t payload) {
  char text[8];
  std::snprintf(text, sizeof text, "#%04x", static_cast<unsigned>(payload >> 48));
  return text;
}

std::string arguments_text(const History& history, const Event& event) {
  const EventCall call = call_of(event);
  if (call == EventCall::kBegin || call == EventCall::kCommit || call == EventCall::kAbort) {
    return "";
  }
  std::string text = event.index < history.indexes.size() ? history.indexes[event.index].name : "?";
  text += handle_text(event);
  if (is_data_call(call) && call != EventCall::kNext) {
    text += ", " + key_text(history, event.index, event.key);
  }
  if (call == EventCall::kInsert || call == EventCall::kDeletePair) {
    text += ", " + payload_text(event.payload);
  }
  return call == EventCall::kDeleteKey ? text + ", all" : text;
}

Json json_of(EventRef event) {
  Json json;
  json["thread"] = event.thread;
  json["position"] = event.position;
  return json;
}

Json json_of(const std::vector<EventRef>& events) {
  Json::Array array;
  for (const EventRef event : events) array.push_back(json_of(event));
  return array;
}

Json json_of(const History& history, const TransactionSpan& span) {
  Json json;
  json["thread"] = span.thread;
  json["first"] = span.first;
  json["last"] = span.last;
  json["state"] = name_of(span.state);
  json["auto_commit"] = span.auto_commit;
  Json::Array calls;
  for (const EventRef ref : calls_of(history, span)) {
    Json call;
    call["position"] = ref.position;
    call["text"] = event_text(history, history.threads[ref.thread][ref.position]);
    calls.push_back(std::move(call));
  }
  json["calls"] = std::move(calls);
  return json;
}

Json json_of(const ViolationEdge& edge) {
  Json json;
  json["from"] = edge.from;
  json["to"] = edge.to;
  json["kind"] = name_of(edge.kind);
  json["coverage"] = name_of(edge.coverage);
  json["because"] = edge.because;
  json["causes"] = json_of(edge.causes);
  return json;
}

Json json_of(const History& history, const Violation& violation) {
  Json json;
  json["name"] = violation.name;
  json["severity"] = name_of(violation.severity);
  json["detail"] = violation.detail;
  Json::Array transactions;
  for (const TransactionSpan& span : violation.transactions) {
    transactions.push_back(json_of(history, span));
  }
  json["transactions"] = std::move(transactions);
  Json::Array edges;
  for (const ViolationEdge& edge : violation.edges) edges.push_back(json_of(edge));
  json["edges"] = std::move(edges);
  json["events"] = json_of(violation.events);
  json["witness"] = witness_json(history, violation);
  return json;
}

// Returns the time of a transaction in microseconds since the first transaction shown began.
std::string time_text(const Json& transaction) {
  const double begin = transaction.find("begin_us")->as_number();
  const double end = transaction.find("end_us")->as_number();
  char text[80];
  if (transaction.find("state")->as_string() == name_of(TransactionState::kUnfinished)) {
    std::snprintf(text, sizeof text, "from %.2f us", begin);
  } else {
    std::snprintf(text, sizeof text, "%.2f to %.2f us", begin, end);
  }
  return text;
}

std::string text_of(const Json& transaction) {
  std::string text = "  " + transaction.find("name")->as_string() + ", thread " +
                     std::to_string(transaction.find("thread")->as_int()) + ", " +
                     transaction.find("state")->as_string() + ", " + time_text(transaction) + "\n";
  for (const Json& call : transaction.find("calls")->as_array()) {
    text += call.find("marked")->as_bool() ? "  > " : "    ";
    text += call.find("call")->as_string() + " = " + call.find("answer")->as_string() + "\n";
  }
  const int64_t left_out = transaction.find("calls_left_out")->as_int();
  if (left_out > 0) {
    text += "    and " + std::to_string(left_out) + (left_out == 1 ? " call" : " calls") +
            " that the violation does not depend on\n";
  }
  return text;
}

// Returns the witness of a violation, i.e. the calls that prove it (witness.h), as text for a
// terminal.
std::string text_of(const History& history, const Violation& violation) {
  const Json witness = witness_json(history, violation, /*with_program=*/false);
  const char* severity =
      violation.severity == Severity::kRequired ? " (breaks a required rule): " : " (advisory): ";
  std::string text =
      "\n" + violation.name + severity + witness.find("summary")->as_string() + ".\n";
  if (const Json* initial = witness.find("initial")) {
    text += "  Initial records:\n";
    for (const Json& record : initial->as_array()) text += "    " + record.as_string() + "\n";
  }
  const Json::Array& transactions = witness.find("transactions")->as_array();
  const Json::Array& edges = witness.find("edges")->as_array();
  int64_t in_cycle = 0;  // the transactions of the cycle come first
  for (const Json& edge : edges) in_cycle = std::max(in_cycle, edge.find("source")->as_int() + 1);
  for (std::size_t i = 0; i < transactions.size(); ++i) {
    if (in_cycle > 0 && static_cast<int64_t>(i) == in_cycle) {
      text += "  Other transactions:\n";
    }
    text += text_of(transactions[i]);
  }
  if (const Json* left_out = witness.find("transactions_left_out")) {
    // The JSON has all transactions of the violation, but not all other transactions.
    const bool in_json = violation.transactions.size() > transactions.size();
    text += "  Transactions not shown: " + std::to_string(left_out->as_int()) +
            (in_json ? " (certify --json writes all of them)\n" : "\n");
  }
  for (const Json& edge : edges) {
    const auto name = [&](const char* end) {
      const auto number = static_cast<std::size_t>(edge.find(end)->as_int());
      return transactions[number].find("name")->as_string();
    };
    text += "  " + name("source") + " must precede " + name("target") + " [" +
            edge.find("kind")->as_string() + "]: " + edge.find("because")->as_string() + "\n";
  }
  if (!transactions.empty()) return text;
  for (const EventRef ref : violation.events) {
    text += "  > thread " + std::to_string(ref.thread) + ": " +
            event_text(history, history.threads[ref.thread][ref.position]) + "\n";
  }
  return text;
}

// Returns the first line of the report.
std::string verdict_text(const Certification& found) {
  const std::string verdict = name_of(found.verdict);
  const certify::CertificationCounts& counts = found.counts;
  if (found.verdict == Verdict::kCouldNotJudge && counts.events == 0) {
    return verdict + ": no call was judged";
  }
  return verdict + ": " + std::to_string(counts.committed) + " committed, " +
         std::to_string(counts.failed) + " failed and " + std::to_string(counts.unfinished) +
         " unfinished transactions, " + std::to_string(counts.events) +
         (counts.events == 1 ? " call" : " calls");
}

// Says what is unknown, and why.
std::string unknown_text(const Certification& found) {
  if (found.verdict != Verdict::kViolation) return found.reason;
  return "every violation of a required rule below is proven. It is unknown whether they are only "
         "stale reads (reads of old data): " +
         found.reason;
}

}  // namespace

const char* name_of(Verdict verdict) {
  static const char* const kNames[] = {"certified", "violation", "could_not_judge", "undecided"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const char* name_of(Severity severity) {
  return severity == Severity::kRequired ? "required" : "advisory";
}

const char* name_of(EdgeKind kind) {
  static const char* const kNames[] = {"ww", "wr",           "wr_predicate",
                                       "rw", "rw_predicate", "real_time"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* name_of(Coverage coverage) {
  static const char* const kNames[] = {"none",         "missing_key", "gap",
                                       "before_first", "tail",        "rest_of_key"};
  return kNames[static_cast<std::size_t>(coverage)];
}

const char* name_of(TransactionState state) {
  static const char* const kNames[] = {"committed", "failed", "unfinished"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string event_text(const History& history, const Event& event) {
  std::string text =
      std::string(call_name(call_of(event))) + "(" + arguments_text(history, event) + ") = ";
  if (event.code == SUCCESS && call_of(event) == EventCall::kGet) {
    return text + payload_text(event.payload);
  }
  if (event.code == SUCCESS && call_of(event) == EventCall::kNext) {
    return text + "(" + key_text(history, event.index, event.key) + ", " +
           payload_text(event.payload) + ")";
  }
  return text + code_text(event);
}

std::string text_report(const History& history, const Certification& found) {
  std::string text = verdict_text(found) + "\n";
  if (!found.reason.empty()) text += unknown_text(found) + "\n";
  if (found.violations.size() > 1) {
    text +=
        "The names T1, T2 and so on belong to one finding only. Its times count "
        "from the beginning of its earliest transaction.\n";
  }
  for (const Violation& violation : found.violations) text += text_of(history, violation);
  return text;
}

Json json_report(const History& history, const Certification& found) {
  Json json;
  json["verdict"] = name_of(found.verdict);
  json["without_real_time"] = name_of(found.without_real_time);
  json["reason"] = found.reason;
  Json counts;
  counts["committed"] = found.counts.committed;
  counts["failed"] = found.counts.failed;
  counts["unfinished"] = found.counts.unfinished;
  counts["events"] = found.counts.events;
  counts["edges"] = found.counts.edges;
  counts["leftovers"] = found.counts.leftovers;
  json["counts"] = std::move(counts);
  Json::Array violations;
  for (const Violation& violation : found.violations) {
    violations.push_back(json_of(history, violation));
  }
  json["violations"] = std::move(violations);
  return json;
}

}  // namespace keydrome::witness
