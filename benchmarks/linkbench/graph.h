// What a scan of the tables shows of the graph, held against what was loaded and what committed
// transactions did with it.
//
// Findings, all required:
//   link_count       the count of a list is not the number of its links
//   count_history    a list has not as many links as were loaded and committed transactions added,
//                    without those that they hid: one of them was lost
//   index_agreement  a link is not once in each of its two indexes, with the same row
//   node_count       a node is not there once, or is although it was deleted
//   impossible_list  a transaction committed that listed more links than there can have been, or
//                    fewer
//   malformed_row    a record is no row of its table
//
// Which transactions added and hid links is known from the evidence that they leave. Without
// (`--plain`) count_history and impossible_list are not judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome::linkbench {

// What became of the links of a list.
struct ListHistory {
  int64_t loaded = 0, added = 0, hidden = 0;
};

// A committed transaction that listed so many links.
struct Sight {
  uint32_t list;
  int64_t links;
  bool whole;  // from the newest one on
};

struct Books {
  std::vector<ListHistory> lists;
  std::vector<uint8_t> nodes;  // by id: 1 if it must be there
  std::vector<Sight> sights;   // the sampled ones
  bool exact = true;           // the evidence was there
};

// From the rows that the script loads and, with `run`, how the transactions of that phase ended.
Books keep_books(const Script& script, const Outcome& outcome, uint32_t load,
                 std::optional<uint32_t> run);

// Borrows the outcome.
struct Graph {
  struct List {
    int64_t count = 0, count_rows = 0, links = 0;
  };
  struct Row {
    int64_t place;
    std::string_view data;
    bool operator==(const Row&) const = default;
    auto operator<=>(const Row&) const = default;
  };
  std::vector<List> lists;
  std::vector<uint32_t> nodes;     // by id: records
  std::vector<Row> links, by_id2;  // in ascending order
  std::vector<std::string> malformed;
};

Graph read_graph(const Script& script, const Outcome& outcome, uint32_t verify, const Books& books);

// `when` stands in the findings: "after the load".
void check_graph(const Books& books, const Graph& graph, const std::string& when,
                 Findings& findings);

}  // namespace keydrome::linkbench
