// TraceParser: reads a trace, a file of recorded calls (trace_file.h), line by line, and refuses
// the first line that is wrong. Of the file's text, the parser keeps only the different keys and
// payloads.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/workload/trace_file/number_table.h"
#include "benchmarks/kit/workload/trace_file/trace_file.h"

namespace keydrome::workload {

class TraceParser {
 public:
  // `name` is the path of the file, for errors.
  explicit TraceParser(std::string name) : name_(std::move(name)) {}

  // Reads the next line, without its end.
  Result<void> add_line(std::string_view text);
  // Returns the trace after the last line. The parser cannot be used afterwards.
  Result<TraceFile> finish();

 private:
  // A part of a line, between blanks or tabs.
  struct Field {
    std::string_view text;
    uint64_t column = 0;
  };
  // What is known about a thread of the trace.
  struct Thread {
    uint64_t first_line = 0;
    uint64_t begin_line = 0;  // of the open transaction; 0: none is open
    uint64_t lines = 0;       // of the open transaction
  };
  struct Operation;
  static const std::array<Operation, 7> kOperations;

  Error fault(uint64_t column, const std::string& what) const;
  Error fault(const Field& field, const std::string& what) const;
  Result<void> split(std::string_view text);
  Result<void> expect_fields(std::size_t least, std::size_t most, const char* form) const;
  Result<std::string_view> decoded(const Field& field, std::size_t bytes_max, const char* what);
  Result<int64_t> number(const Field& field, int64_t least, int64_t most, const char* what) const;

  Result<void> read_header();
  Result<void> read_index();
  Result<void> read_load();
  Result<void> read_call();
  Result<Thread*> thread_of(const Field& field, uint32_t& number);
  Result<void> read_operands(const Operation& operation, TraceCall& call);
  Result<void> check_place(const Operation& operation, const Thread& thread, uint32_t number) const;
  void count(const TraceCall& call, Thread& thread);

  Result<uint8_t> index_of(const Field& field) const;
  Result<uint32_t> key_of(const Field& field, uint8_t index);
  Result<uint32_t> string_number(const Field& field, std::string_view text, script::Strings& pool,
                                 NumberTable& table, const char* what);
  Result<uint32_t> pair_of(uint8_t index, uint32_t key, const Field* payload);
  void count_insert(uint32_t pair);
  Result<void> check_indexes() const;
  Result<void> check_threads() const;

  std::string name_;
  uint64_t line_ = 0;
  bool has_header_ = false;
  std::vector<Field> fields_;  // of the current line
  std::string decoded_;        // the last result of decoded()
  TraceFile trace_;
  std::vector<Thread> threads_;
  std::vector<uint64_t> index_lines_;           // by index: where it is declared
  std::vector<bool> has_key_;                   // by index: some line names a key of it
  std::array<NumberTable, 3> key_numbers_;      // by type
  std::array<std::vector<bool>, 3> is_stored_;  // by type and key
  NumberTable payload_numbers_, pair_numbers_;
};

}  // namespace keydrome::workload
