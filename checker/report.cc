#include "checker/report.h"

#include <cstdio>

#include "checker/calls.h"

namespace keydrome {
namespace {

const char* code_text(uint8_t code) {
  static const char* const kNames[] = {"SUCCESS",      "DB_DNE",     "DB_EXISTS", "DB_END",
                                       "KEY_NOTFOUND", "TXN_EXISTS", "TXN_DNE",   "ENTRY_EXISTS",
                                       "ENTRY_DNE",    "DEADLOCK",   "FAILURE"};
  return code <= FAILURE ? kNames[code] : "an unknown code";
}

const char* call_text(EventCall call) {
  static const char* const kNames[] = {
      "create",           "openIndex", "closeIndex", "beginTransaction", "commitTransaction",
      "abortTransaction", "get",       "getNext",    "insertRecord",     "deleteRecord",
      "deleteRecord"};
  return call <= EventCall::kDeleteKey ? kNames[static_cast<std::size_t>(call)] : "?";
}

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
  if (is_data_call(call) && call != EventCall::kNext) {
    text += ", " + key_text(history, event.index, event.key);
  }
  if (call == EventCall::kInsert || call == EventCall::kDeletePair) {
    text += ", " + payload_text(event.payload);
  }
  return call == EventCall::kDeleteKey ? text + ", all" : text;
}

std::vector<uint32_t> positions_of(const History& history, const TransactionSpan& span) {
  std::vector<uint32_t> positions;
  const std::vector<Event>& events = history.threads[span.thread];
  for (uint32_t i = span.first; i <= span.last && i < events.size(); ++i) {
    if (is_auto_commit(events[i]) == span.auto_commit) positions.push_back(i);
  }
  return positions;
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
  for (const uint32_t position : positions_of(history, span)) {
    Json call;
    call["position"] = position;
    call["text"] = event_text(history, history.threads[span.thread][position]);
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
  return json;
}

std::string text_of(const History& history, const Violation& violation) {
  std::string text = std::string("\n") + violation.name + " (" + name_of(violation.severity) +
                     "): " + violation.detail + "\n";
  for (std::size_t i = 0; i < violation.transactions.size(); ++i) {
    const TransactionSpan& span = violation.transactions[i];
    text += "  T" + std::to_string(i + 1) + ", thread " + std::to_string(span.thread) + ", " +
            name_of(span.state) + "\n";
    for (const uint32_t position : positions_of(history, span)) {
      text += "    " + event_text(history, history.threads[span.thread][position]) + "\n";
    }
  }
  for (const ViolationEdge& edge : violation.edges) {
    text += "  T" + std::to_string(edge.from + 1) + " must stand before T" +
            std::to_string(edge.to + 1) + " [" + name_of(edge.kind) + "]: " + edge.because + "\n";
  }
  return text;
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
      std::string(call_text(call_of(event))) + "(" + arguments_text(history, event) + ") = ";
  if (event.code == SUCCESS && call_of(event) == EventCall::kGet) {
    return text + payload_text(event.payload);
  }
  if (event.code == SUCCESS && call_of(event) == EventCall::kNext) {
    return text + "(" + key_text(history, event.index, event.key) + ", " +
           payload_text(event.payload) + ")";
  }
  return text + code_text(event.code);
}

std::string text_report(const History& history, const Certification& found) {
  std::string text = std::string(name_of(found.verdict)) + ": " +
                     std::to_string(found.counts.committed) + " committed, " +
                     std::to_string(found.counts.failed) + " failed and " +
                     std::to_string(found.counts.unfinished) + " unfinished transactions, " +
                     std::to_string(found.counts.events) + " calls\n";
  if (!found.reason.empty()) text += found.reason + "\n";
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

}  // namespace keydrome
