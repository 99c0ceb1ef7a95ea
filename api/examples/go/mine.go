// The smallest complete index library in Go that keeps contract A, the specification in
// keydrome/index.h. Copy this folder, and build it with this command, where INCLUDE is the folder
// api/include of Keydrome:
//
//	CGO_CFLAGS=-IINCLUDE go build -buildmode=c-shared -o mine.so
//
// An index is a sorted slice of (key, payload) pairs. This is fast enough for about ten thousand
// records. One lock makes transactions serialisable: a transaction takes the lock at its first call
// on data, and keeps it until the transaction ends.
//
// The pointers that the caller gets are those of Go objects. The garbage collector must neither
// free nor move these, so they are pinned, and used again instead of freed.
package main

// #include "keydrome/index.h"
// typedef const char const_char; // Go cannot say const, but the header does
import "C"

import (
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// pair is a record. Numbers are encoded as bytes that sort in the order of the contract.
type pair struct{ key, payload string }

type index struct {
	kind  C.KeyType
	pairs []pair // sorted
}

type change struct {
	index   *index
	pair    pair
	deleted bool
}

// thread is a thread of the caller with its transaction. The caller knows it as TxnState.
type thread struct {
	open, locked bool
	number       int // counts the transactions; handle.number refers to it
	changes      []change
	closed       []*handle // for openIndex to use again
}

// handle is an open index. The caller knows it as IdxState. It belongs to the thread that opened it.
type handle struct {
	owner    *thread
	index    *index // nil: closed
	number   int    // the transaction to which the cursor belongs
	position pair   // getNext returns the first pair at or after this position
	after    bool   // true: the first pair after this position
}

var (
	data      sync.Mutex // protects the pairs of all indexes
	directory sync.Mutex // protects the variables below
	indexes   = map[string]*index{}
	threads   = map[int]*thread{} // by the number that the kernel gives a thread
	pinned    runtime.Pinner
)

func main() {} // -buildmode=c-shared requires main, but never calls it

func compare(a, b pair) int {
	if byKey := cmp.Compare(a.key, b.key); byKey != 0 {
		return byKey
	}
	return cmp.Compare(a.payload, b.payload)
}

// guarded runs body. A panic must not leave the library: it becomes FAILURE, and the caller aborts
// the transaction.
func guarded(body func() C.ErrCode) (code C.ErrCode) {
	defer func() {
		if recover() != nil {
			code = C.FAILURE
		}
	}()
	return body()
}

// current returns the thread of the caller. A goroutine that C has called stays on the thread of C.
// directory must be locked.
func current() *thread {
	number := syscall.Gettid()
	if threads[number] == nil {
		threads[number] = &thread{}
		pinned.Pin(threads[number])
	}
	return threads[number]
}

// onData runs body, which is one call on data, under the lock. Only an auto-commit call (txn is nil)
// unlocks afterwards. If the thread's own transaction holds the lock, an auto-commit call would wait
// for its own thread for ever, so it returns DEADLOCK.
func onData(idx *C.IdxState, txn *C.TxnState, body func(*handle, *thread) C.ErrCode) C.ErrCode {
	return guarded(func() C.ErrCode {
		h := (*handle)(unsafe.Pointer(idx))
		t := (*thread)(unsafe.Pointer(txn))
		if h == nil || h.index == nil {
			return C.DB_DNE
		}
		if t == nil {
			if h.owner.locked {
				return C.DEADLOCK
			}
			data.Lock()
			defer data.Unlock()
			return body(&handle{index: h.index}, &thread{})
		}
		if !t.open {
			return C.TXN_DNE
		}
		if !t.locked {
			data.Lock()
			t.locked = true
		}
		if h.number != t.number {
			h.number, h.position, h.after = t.number, pair{}, false
		}
		return body(h, t)
	})
}

// text copies the bytes before the first NUL. It reports whether there is a NUL.
func text(bytes []byte) (string, bool) {
	copied, _, found := strings.Cut(string(bytes), "\x00")
	return copied, found
}

// keyOf encodes a key of the caller. It reports whether the key fits the index.
func keyOf(x *index, key *C.Key) (string, bool) {
	value := unsafe.Pointer(&key.keyval)
	switch {
	case key._type != x.kind:
		return "", false
	case x.kind == C.VARCHAR:
		return text(unsafe.Slice((*byte)(value), C.MAX_VARCHAR_LEN+1))
	case x.kind == C.SHORT:
		return encoded(int64(*(*int32)(value))), true
	default:
		return encoded(*(*int64)(value)), true
	}
}

func encoded(number int64) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(number)^1<<63))
}

func putKey(x *index, encoded string, key *C.Key) {
	value := unsafe.Pointer(&key.keyval)
	key._type = x.kind
	if x.kind == C.VARCHAR {
		putText(unsafe.Slice((*byte)(value), C.MAX_VARCHAR_LEN+1), encoded)
		return
	}
	number := int64(binary.BigEndian.Uint64([]byte(encoded)) ^ 1<<63)
	if x.kind == C.SHORT {
		*(*int32)(value) = int32(number)
	} else {
		*(*int64)(value) = number
	}
}

func putText(to []byte, text string) { to[copy(to, text)] = 0 }

func payloadOf(record *C.Record) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&record.payload)), C.MAX_PAYLOAD_LEN+1)
}

//export create
func create(kind C.KeyType, name *C.char) C.ErrCode {
	return guarded(func() C.ErrCode {
		directory.Lock()
		defer directory.Unlock()
		if indexes[C.GoString(name)] != nil {
			return C.DB_EXISTS
		}
		indexes[C.GoString(name)] = &index{kind: kind}
		return C.SUCCESS
	})
}

//export openIndex
func openIndex(name *C.const_char, idx **C.IdxState) C.ErrCode {
	return guarded(func() C.ErrCode {
		directory.Lock()
		defer directory.Unlock()
		found := indexes[C.GoString(name)]
		if found == nil {
			return C.DB_DNE
		}
		t := current()
		if len(t.closed) == 0 {
			t.closed = append(t.closed, &handle{})
			pinned.Pin(t.closed[0])
		}
		h := t.closed[len(t.closed)-1]
		t.closed = t.closed[:len(t.closed)-1]
		*h = handle{owner: t, index: found}
		*idx = (*C.IdxState)(unsafe.Pointer(h))
		return C.SUCCESS
	})
}

//export closeIndex
func closeIndex(idx *C.IdxState) C.ErrCode {
	return guarded(func() C.ErrCode {
		h := (*handle)(unsafe.Pointer(idx))
		if h == nil || h.index == nil {
			return C.DB_DNE
		}
		h.index = nil
		h.owner.closed = append(h.owner.closed, h)
		return C.SUCCESS
	})
}

//export beginTransaction
func beginTransaction(txn **C.TxnState) C.ErrCode {
	return guarded(func() C.ErrCode {
		directory.Lock()
		defer directory.Unlock()
		t := current()
		if t.open {
			return C.TXN_EXISTS
		}
		t.open = true
		t.number++
		*txn = (*C.TxnState)(unsafe.Pointer(t))
		return C.SUCCESS
	})
}

//export abortTransaction
func abortTransaction(txn *C.TxnState) C.ErrCode { return finish(txn, false) }

//export commitTransaction
func commitTransaction(txn *C.TxnState) C.ErrCode { return finish(txn, true) }

func finish(txn *C.TxnState, commit bool) C.ErrCode {
	return guarded(func() C.ErrCode {
		t := (*thread)(unsafe.Pointer(txn))
		if t == nil || !t.open {
			return C.TXN_DNE
		}
		for i := len(t.changes) - 1; i >= 0 && !commit; i-- {
			change := t.changes[i]
			place, _ := slices.BinarySearchFunc(change.index.pairs, change.pair, compare)
			if change.deleted {
				change.index.pairs = slices.Insert(change.index.pairs, place, change.pair)
			} else {
				change.index.pairs = slices.Delete(change.index.pairs, place, place+1)
			}
		}
		if t.locked {
			data.Unlock()
		}
		t.open, t.locked, t.changes = false, false, nil
		return C.SUCCESS
	})
}

//export get
func get(idx *C.IdxState, txn *C.TxnState, record *C.Record) C.ErrCode {
	return onData(idx, txn, func(h *handle, _ *thread) C.ErrCode {
		key, fits := keyOf(h.index, &record.key)
		if !fits {
			return C.FAILURE
		}
		h.position, h.after = pair{key, ""}, false
		place, _ := slices.BinarySearchFunc(h.index.pairs, h.position, compare)
		if place == len(h.index.pairs) || h.index.pairs[place].key != key {
			return C.KEY_NOTFOUND
		}
		h.position, h.after = h.index.pairs[place], true
		putText(payloadOf(record), h.position.payload)
		return C.SUCCESS
	})
}

//export getNext
func getNext(idx *C.IdxState, txn *C.TxnState, record *C.Record) C.ErrCode {
	return onData(idx, txn, func(h *handle, _ *thread) C.ErrCode {
		place, found := slices.BinarySearchFunc(h.index.pairs, h.position, compare)
		if found && h.after {
			place++
		}
		if place == len(h.index.pairs) {
			return C.DB_END
		}
		h.position, h.after = h.index.pairs[place], true
		putKey(h.index, h.position.key, &record.key)
		putText(payloadOf(record), h.position.payload)
		return C.SUCCESS
	})
}

//export insertRecord
func insertRecord(idx *C.IdxState, txn *C.TxnState, key *C.Key, payload *C.const_char) C.ErrCode {
	return onData(idx, txn, func(h *handle, t *thread) C.ErrCode {
		encoded, fits := keyOf(h.index, key)
		inserted := pair{encoded, C.GoString(payload)}
		if !fits || len(inserted.payload) > C.MAX_PAYLOAD_LEN {
			return C.FAILURE
		}
		place, found := slices.BinarySearchFunc(h.index.pairs, inserted, compare)
		if found {
			return C.ENTRY_EXISTS
		}
		h.index.pairs = slices.Insert(h.index.pairs, place, inserted)
		t.changes = append(t.changes, change{h.index, inserted, false})
		return C.SUCCESS
	})
}

//export deleteRecord
func deleteRecord(idx *C.IdxState, txn *C.TxnState, record *C.Record) C.ErrCode {
	return onData(idx, txn, func(h *handle, t *thread) C.ErrCode {
		key, fits := keyOf(h.index, &record.key)
		payload, ends := text(payloadOf(record))
		if !fits || !ends {
			return C.FAILURE
		}
		first, found := slices.BinarySearchFunc(h.index.pairs, pair{key, payload}, compare)
		end := first
		if payload != "" && found {
			end++
		}
		for payload == "" && end < len(h.index.pairs) && h.index.pairs[end].key == key {
			end++
		}
		for _, victim := range h.index.pairs[first:end] {
			t.changes = append(t.changes, change{h.index, victim, true})
		}
		h.index.pairs = slices.Delete(h.index.pairs, first, end)
		switch {
		case first < end:
			return C.SUCCESS
		case payload == "":
			return C.KEY_NOTFOUND
		default:
			return C.ENTRY_DNE
		}
	})
}
