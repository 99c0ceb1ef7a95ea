// Implements c_records.h: writes records as C text, for a C program that repeats a failed run. The
// text calls make(), which is a function of the C program (kPrelude in c_program_parts.cc).
#include "checker/witness/c_records.h"

#include <algorithm>
#include <set>
#include <vector>

#include "checker/witness/c_literal.h"

namespace keydrome::witness {

namespace {

// Returns the results of all calls, and the records at the end.
std::vector<ReproducerRecord> results_of(const Reproducer& reproducer) {
  std::vector<ReproducerRecord> results;
  for (const ReproducerCall& call : reproducer.calls) results.push_back(call.returned);
  if (!reproducer.final_records) return results;
  results.insert(results.end(), reproducer.final_records->begin(), reproducer.final_records->end());
  return results;
}

// Returns the records that the program inserts.
std::vector<ReproducerRecord> inserted_by(const Reproducer& reproducer) {
  std::vector<ReproducerRecord> inserted = reproducer.initial;
  for (const ReproducerCall& call : reproducer.calls) {
    if (call.call == history::EventCall::kInsert) inserted.push_back(call.passed);
  }
  return inserted;
}

std::string payload_function(const std::vector<ReproducerRecord>& inserted) {
  std::set<std::string> payloads;
  for (const ReproducerRecord& record : inserted) payloads.insert(record.payload);
  std::string text = "static int is_inserted_payload(const char* payload) {\n";
  for (const std::string& payload : payloads) {
    text += "  if (strcmp(payload, " + c_string(payload) + ") == 0) return 1;\n";
  }
  return text + "  return 0;\n}\n\n";
}

std::string key_function(const Reproducer& reproducer,
                         const std::vector<ReproducerRecord>& inserted) {
  std::set<std::string> lines;
  for (const ReproducerRecord& record : inserted) {
    ReproducerRecord key = record;
    key.payload.clear();
    const std::string type = type_name(reproducer.indexes[record.index].type);
    lines.insert("  other = " + make(reproducer, key) +
                 ";\n  if (index == " + std::to_string(record.index) +
                 " && same_key(key, &other.key, " + type + ")) return 1;\n");
  }
  std::string text = "static int is_inserted_key(int index, const Key* key) {\n  Record other;\n";
  for (const std::string& line : lines) text += line;
  return text + "  return 0;\n}\n\n";
}

}  // namespace

std::string type_name(KeyType type) {
  return type == SHORT ? "SHORT" : type == INT ? "INT" : "VARCHAR";
}

std::string make(const Reproducer& reproducer, const ReproducerRecord& record) {
  return "make(" + type_name(reproducer.indexes[record.index].type) + ", " +
         c_integer(record.number) + ", " + c_string(record.text) + ", " + c_string(record.payload) +
         ")";
}

std::string inserted_functions(const Reproducer& reproducer) {
  const std::vector<ReproducerRecord> results = results_of(reproducer);
  const std::vector<ReproducerRecord> inserted = inserted_by(reproducer);
  std::string text;
  if (std::ranges::any_of(results, &ReproducerRecord::is_unknown_payload)) {
    text += payload_function(inserted);
  }
  if (std::ranges::any_of(results, &ReproducerRecord::is_unknown_key)) {
    text += key_function(reproducer, inserted);
  }
  return text;
}

std::string is_unknown(const ReproducerRecord& result) {
  std::string text;
  if (result.is_unknown_key) {
    text = "!is_inserted_key(" + std::to_string(result.index) + ", &record.key)";
  }
  if (result.is_unknown_payload) {
    text += (text.empty() ? "" : " && ") + std::string("!is_inserted_payload(record.payload)");
  }
  return text;
}

}  // namespace keydrome::witness
