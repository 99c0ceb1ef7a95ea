// The graph check of the benchmark "linkbench": compares the tables after a run with the loaded
// graph and the committed transactions.
//
// Findings, all required (each fails the library):
// - link_count: the count of a list differs from the number of its links
// - count_history: a list does not have the loaded links, plus those that committed transactions
//   added, minus those that they hid. An update was lost.
// - index_agreement: a link is missing from one of its two indexes, occurs twice, or has different
//   rows
// - node_count: a node is missing, occurs twice, or occurs although it was deleted
// - impossible_list: a committed transaction read a number of links that the list cannot have had
// - malformed_row: a record is not a valid row of its table
//
// The evidence of a transaction (a copy of its result) shows whether the transaction added or hid a
// link. Without evidence (`--plain`), count_history and impossible_list are not checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::linkbench {

// For one list: how many links were loaded, and how many committed transactions added and hid.
struct ListHistory {
  int64_t loaded = 0, added = 0, hidden = 0;
};

// A read of a list by a committed transaction.
struct Observation {
  uint32_t list;
  int64_t links;  // number of links that were read
  bool whole;     // true if the read began at the newest link
};

// The expected graph, according to the script and the results of the run.
struct Books {
  std::vector<ListHistory> lists;
  std::vector<uint8_t> nodes;             // by id: 1 if the node must exist, otherwise 0
  std::vector<Observation> observations;  // the reads of lists that left evidence
  bool exact = true;                      // false if evidence is missing
};

// Computes the expected graph from the rows that phase `load` of the script loads. If `run` is
// given, also applies the committed transactions of phase `run`.
Books keep_books(const script::Script& script, const script::Outcome& outcome, uint32_t load,
                 std::optional<uint32_t> run);

// The tables as phase `verify` read them.
struct Graph {
  struct List {
    int64_t count = 0, count_rows = 0, links = 0;
  };
  struct Row {
    int64_t link_key;
    std::string data;
    bool operator==(const Row&) const = default;
    auto operator<=>(const Row&) const = default;
  };
  std::vector<List> lists;
  std::vector<uint32_t> nodes;     // by id: number of records
  std::vector<Row> links, by_id2;  // in ascending order
  std::vector<std::string> malformed;
};

Graph read_graph(const script::Script& script, const script::Outcome& outcome, uint32_t verify,
                 const Books& books);

// Adds a finding for each difference. `when` becomes part of the findings, e.g. "after the load".
void check_graph(const script::Pools& pools, const Books& books, const Graph& graph,
                 const std::string& when, judge::Findings& findings);

}  // namespace keydrome::linkbench
