// A library that attacks the measurement: it requests pieces of the workload, as if it were the
// player, to see operations earlier. The player is the program that calls the library. It receives
// its operations in pieces through shared memory (the ring), which holds two pieces for each
// thread. All results of the library are right.
//
// The referee, the process that sends the pieces and judges the results, must find the attack. A
// piece that comes early replaces operations that the player has not played yet, so the results do
// not match the operations that the referee sent. And when the player later requests the same
// piece, the request is out of order.
#include <sys/socket.h>

#include "harness/protocol.h"
#include "tests/faulty/attacks/fast_reads.h"
#include "tests/faulty/attacks/ring_reader.h"
#include "tests/hostile/memory.h"

namespace {

using keydrome::Message;
using keydrome::MessageType;

attacks::RingReader& reader() {
  static attacks::RingReader only;
  return only;
}

// Asks for the piece after the next one, once for each piece.
void ask_early(uint32_t piece) {
  static uint32_t asked = 0;
  const Message* go = asked == piece + 2 ? nullptr : hostile::find_message(MessageType::kGo);
  if (go == nullptr) return;
  Message need = *go;
  need.type = MessageType::kNeed;
  need.thread = 0;
  need.piece = asked = piece + 2;
  if (send(keydrome::kChannelFd, &need, sizeof need, MSG_DONTWAIT) < 0) return;
}

}  // namespace

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  static const bool has_ring = reader().find_ring();
  (void)has_ring;
  return honest::openIndex(name, idxState);
}

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (record->key.type != INT) return attacks::honest_get(idxState, txn, record);
  const int64_t key = record->key.keyval.intkey;
  attacks::NextGet get{};
  if (reader().expect(key, get)) ask_early(reader().piece_number());
  const attacks::FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  return attacks::answer(idxState, txn, record, fast->tree.find(key));
}
