// Sweep: reads off a history which transaction must stand before which, and what is wrong whatever
// the order.
//
// It walks the committed transactions in the order in which they returned and keeps, for each cell,
// the elements that can matter to them: inserted by a transaction that had begun before this one
// returned, and not deleted by one that had returned before this one or any later one began. What a
// lookup or a scan step covers and did not show is looked up there; all other absences follow from
// real time. So the cost is what was shown plus what was written at the same time, not what a
// scan's interval ever held.
//
// Edges that real time implies are left out (`lean`), unless a sink asks for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "checker/certify.h"
#include "checker/numbering.h"
#include "checker/transactions.h"
#include "checker/writers.h"

namespace keydrome {

// Everything that the stages share. References outlive all of them.
struct Case {
  const History& history;
  const Numbering& numbering;
  const Transactions& transactions;
  const Writers& writers;
  const CertifyOptions& options;

  bool rule(uint32_t rule) const { return (options.disabled_rules & rule) == 0; }
};

struct Observation {
  uint32_t from;  // positions in Transactions::committed
  uint32_t to;
  EdgeKind kind;
  Coverage coverage;
  uint32_t element;
  EventRef event;  // the call that shows it
};

// A reader did not see an element whose inserter and deleter both overlap it: it stands before the
// one or behind the other.
struct EitherOr {
  uint32_t reader;
  uint32_t inserter;
  uint32_t deleter;
  uint32_t element;
  Coverage coverage;
  EventRef event;
};

// Wrong whatever the order.
struct DirectFinding {
  const char* name;  // one of kViolationNames
  const char* text;  // one sentence, without full stop
  uint32_t element;
  EventRef event;
  const Transaction* reader;
  uint32_t other;  // position in Transactions::committed, or kNoNumber
  // Whether it is wrong only because of who deleted the element.
  bool is_about_deleter = false;
  // A transaction that deleted a key blindly and for which nothing is left that it deleted.
  uint32_t robbed = kNoNumber;
};

class SweepSink {
 public:
  virtual ~SweepSink() = default;
  virtual void edge(const Observation& observation) = 0;
  virtual void either_or(const EitherOr& choice) = 0;
  virtual void finding(const DirectFinding& finding) = 0;
};

// `lean`: leave out what real time implies.
void sweep(const Case& the_case, bool lean, SweepSink& sink);

}  // namespace keydrome
