// find_dependencies(): derives edges between the committed transactions of a recorded history from
// the results of their calls. An edge says that one transaction must precede another in every
// serial order. find_dependencies() also finds results that are wrong in every serial order.
//
// One pass visits the committed transactions in the order in which they returned. Edges follow from
// two kinds of results:
// - A call shows that a record existed: the call returned it, deleted it or reported ENTRY_EXISTS.
//   The record's inserter precedes the transaction of the call. This transaction precedes the
//   record's deleter, unless it is the deleter.
// - A call shows that a record did not exist, because the call would have returned or deleted the
//   record otherwise. So the transaction of the call precedes the record's inserter, or the
//   record's deleter precedes this transaction. The pass examines only records that may have
//   existed while this transaction ran (edges/active_elements.h). Every other record was inserted
//   after the transaction had returned, or deleted before it began, so its absence is right.
//
// After the committed transactions, the pass visits the other transactions. It checks only that
// they saw no uncommitted, aborted or corrupt record.
//
// In the code, an *element* is the number of a record, and a *cell* the number of a key of an index
// (numbering.h).
#pragma once

#include <cstdint>
#include <vector>

#include "checker/certify/certify.h"
#include "checker/certify/versions.h"
#include "checker/history/numbering.h"
#include "checker/history/transactions.h"

namespace keydrome::certify {

// The input of all stages of certify(). The referenced objects must outlive every stage.
struct Context {
  const history::History& history;
  const history::Numbering& numbering;
  const history::Transactions& transactions;
  const Versions& versions;
  const CertifyOptions& options;

  // Returns true if a Rule (rules.h) is switched on.
  bool rule(uint32_t rule) const { return (options.disabled_rules & rule) == 0; }

  // Returns true if a transaction whose end is not in the history wrote records of the key with the
  // number `cell` (numbering.h). The transaction may have committed. Then its writes may explain
  // why another transaction did not see a record of this key.
  bool is_unfinished(uint32_t cell) const {
    return versions.unfinished_writes && versions.unfinished_cells[cell];
  }
  bool is_unfinished_element(uint32_t element) const {
    return is_unfinished(numbering.element_cells[element]);
  }
};

// An edge between two transactions, and the call whose result shows the edge.
struct Observation {
  uint32_t from;  // positions in Transactions::committed
  uint32_t to;
  EdgeKind kind;
  Coverage coverage;
  uint32_t element;
  history::EventRef event;
};

// Two possible edges, of which the serial order must respect at least one. A reader did not see an
// element, and real time does not show whether the reader came too early or too late to see it. So
// the reader precedes the element's inserter, or the element's deleter precedes the reader.
// Papadimitriou (1979) calls a graph with such choices a polygraph.
struct Choice {
  uint32_t reader;
  uint32_t inserter;
  uint32_t deleter;
  uint32_t element;
  Coverage coverage;
  history::EventRef event;
};

// A result that is wrong in every serial order.
struct DirectFinding {
  const char* name;  // one of kViolationNames
  const char* text;  // one sentence, without full stop
  uint32_t element;
  history::EventRef event;
  const history::Transaction* reader;
  // The other transaction, as a position in Transactions::committed, or kNoNumber. It inserted the
  // element; or, if `blind_deleter` is set, it deleted the element before.
  uint32_t other;
  // True if the finding depends on the element's current deleter. If several transactions may have
  // deleted the element, its current deleter is the one that Versions (versions.h) assumes.
  bool is_about_deleter = false;
  // Set only if a deleteRecord of all payloads of a key succeeded although the key had no payload
  // left: the transaction that made this call. Such a finding assumes that Versions chose the right
  // deleters. For all other findings, kNoNumber.
  uint32_t blind_deleter = history::kNoNumber;
  Severity severity = Severity::kRequired;
  // Set only for a scan that went backwards: the larger key that it had reached. Otherwise
  // kNoNumber.
  uint32_t passed_cell = history::kNoNumber;
};

// Receives what find_dependencies() finds.
class DependencySink {
 public:
  virtual ~DependencySink() = default;
  virtual void add_edge(const Observation& observation) = 0;
  virtual void add_choice(const Choice& choice) = 0;
  virtual void add_finding(const DirectFinding& finding) = 0;
};

// If `lean` is true, find_dependencies() leaves out the edges that real time implies, so that the
// graph stays small. add_real_time() (precedence.h) puts real time into the graph.
void find_dependencies(const Context& context, bool lean, DependencySink& sink);

}  // namespace keydrome::certify
