//! The smallest complete index library in Rust that keeps contract A, the specification in
//! keydrome/index.h. Copy this folder, build it with this command, then make it faster:
//!
//!   cargo build --release
//!
//! An index is a BTreeSet of (key, payload) pairs. One lock makes transactions serialisable: a
//! transaction takes the lock at its first call on data, and keeps it until the transaction ends.
//!
//! The caller never looks into a handle or a transaction. So the pointers that the caller gets are
//! only numbers. The library never dereferences them, so a wrong pointer cannot crash it. Handles
//! and transactions belong to the thread that made them. The number of a handle is its position in
//! a list of this thread, plus 1. The number of a transaction counts the transactions of this
//! thread.
#![allow(non_snake_case)] // the names are those of keydrome/index.h
#![allow(clippy::missing_safety_doc)] // keydrome/index.h says which pointers are valid

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::mem::{size_of, take};
use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ErrCode::*;

/// The result codes of keydrome/index.h, in the same order.
#[repr(C)]
pub enum ErrCode {
    Success,
    DbDne,
    DbExists,
    DbEnd,
    KeyNotFound,
    TxnExists,
    TxnDne,
    EntryExists,
    EntryDne,
    Deadlock,
    Failure,
}

type KeyType = i32;
const SHORT: KeyType = 0;
const INT: KeyType = 1;
const VARCHAR: KeyType = 2;
const MAX_VARCHAR_LEN: usize = 128;
const MAX_PAYLOAD_LEN: usize = 100;

#[repr(C)]
pub union KeyValue {
    shortkey: i32,
    intkey: i64,
    charkey: [u8; MAX_VARCHAR_LEN + 1],
}

#[repr(C)]
pub struct Key {
    kind: KeyType,
    keyval: KeyValue,
}

#[repr(C)]
pub struct Record {
    key: Key,
    payload: [u8; MAX_PAYLOAD_LEN + 1],
}

// Checks at compile time that the types have the sizes that docs/reference/index-api.md lists.
const _: () = assert!(size_of::<Key>() == 144 && size_of::<Record>() == 248);

pub enum IdxState {}
pub enum TxnState {}

/// A key in the order of the contract: numbers by value, texts by their bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum IndexKey {
    Number(i64),
    Text(Vec<u8>),
}

type Pair = (IndexKey, Vec<u8>);

struct Index {
    kind: KeyType,
    /// Rust requires this lock, because several threads share the set. No thread ever waits for it:
    /// a thread that uses the set already holds LOCK, which excludes the others.
    pairs: Mutex<BTreeSet<Pair>>,
}

enum Change {
    Inserted(Arc<Index>, Pair),
    Deleted(Arc<Index>, Pair),
}

struct Handle {
    index: Arc<Index>,
    txn: usize,          // the transaction to which the cursor belongs
    cursor: Bound<Pair>, // getNext returns the first pair within this bound
}

#[derive(Default)]
struct Thread {
    handles: Vec<Option<Handle>>, // IdxState* is the position + 1; None: closed
    txn: usize,                   // TxnState*: the number of the latest transaction
    open: bool,
    lock: Option<MutexGuard<'static, ()>>,
    changes: Vec<Change>,
}

impl Thread {
    fn is_open(&self, txn: *mut TxnState) -> bool {
        self.open && txn as usize == self.txn
    }
}

static LOCK: Mutex<()> = Mutex::new(());
static DIRECTORY: Mutex<BTreeMap<Vec<u8>, Arc<Index>>> = Mutex::new(BTreeMap::new());
thread_local!(static THREAD: RefCell<Thread> = RefCell::default());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `body` with the data of the calling thread. A panic must not leave the library: it becomes
/// FAILURE, and the caller aborts the transaction.
fn guarded(body: impl FnOnce(&mut Thread) -> ErrCode) -> ErrCode {
    let call = || THREAD.with(|thread| body(&mut thread.borrow_mut()));
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(Failure)
}

/// Runs `body`, which is one call on data, under the lock. An auto-commit call (txn is null) has a
/// cursor and a list of changes of its own. If the thread's own transaction holds the lock, an
/// auto-commit call would wait for its own thread for ever, so it returns DEADLOCK.
fn on_data(
    idx: *mut IdxState,
    txn: *mut TxnState,
    body: impl FnOnce(&Arc<Index>, &mut Bound<Pair>, &mut Vec<Change>) -> ErrCode,
) -> ErrCode {
    guarded(|thread| {
        let is_open = thread.is_open(txn);
        let place = (idx as usize).wrapping_sub(1);
        let Some(Some(handle)) = thread.handles.get_mut(place) else {
            return DbDne;
        };
        if txn.is_null() {
            if thread.lock.is_some() {
                return Deadlock;
            }
            let _guard = lock(&LOCK);
            return body(&handle.index, &mut Unbounded, &mut Vec::new());
        }
        if !is_open {
            return TxnDne;
        }
        thread.lock.get_or_insert_with(|| lock(&LOCK));
        if handle.txn != thread.txn {
            handle.txn = thread.txn;
            handle.cursor = Unbounded;
        }
        body(&handle.index, &mut handle.cursor, &mut thread.changes)
    })
}

/// Copies a key of the caller. Returns None if it does not fit the index.
fn key_of(index: &Index, key: &Key) -> Option<IndexKey> {
    if key.kind != index.kind {
        return None;
    }
    // The caller has set the field that `kind` names, and the other bytes are zero.
    unsafe {
        match key.kind {
            SHORT => Some(IndexKey::Number(key.keyval.shortkey.into())),
            INT => Some(IndexKey::Number(key.keyval.intkey)),
            _ => {
                let end = key.keyval.charkey.iter().position(|&byte| byte == 0)?;
                Some(IndexKey::Text(key.keyval.charkey[..end].to_vec()))
            }
        }
    }
}

/// Copies a text with its NUL into an array of the caller.
fn put_text(to: &mut [u8], text: &[u8]) {
    to[..text.len()].copy_from_slice(text);
    to[text.len()] = 0;
}

fn put_pair(index: &Index, pair: &Pair, record: &mut Record) {
    record.key.kind = index.kind;
    match &pair.0 {
        IndexKey::Number(number) if index.kind == SHORT => {
            record.key.keyval.shortkey = *number as i32
        }
        IndexKey::Number(number) => record.key.keyval.intkey = *number,
        IndexKey::Text(text) => put_text(unsafe { &mut record.key.keyval.charkey }, text),
    }
    put_text(&mut record.payload, &pair.1);
}

unsafe fn text_of(text: *const c_char) -> Vec<u8> {
    CStr::from_ptr(text).to_bytes().to_vec()
}

#[no_mangle]
pub unsafe extern "C" fn create(kind: KeyType, name: *mut c_char) -> ErrCode {
    guarded(|_| {
        if !(SHORT..=VARCHAR).contains(&kind) {
            return Failure;
        }
        let mut directory = lock(&DIRECTORY);
        let name = text_of(name);
        if directory.contains_key(&name) {
            return DbExists;
        }
        directory.insert(
            name,
            Arc::new(Index {
                kind,
                pairs: Mutex::default(),
            }),
        );
        Success
    })
}

#[no_mangle]
pub unsafe extern "C" fn openIndex(name: *const c_char, idx: *mut *mut IdxState) -> ErrCode {
    guarded(|thread| {
        let Some(index) = lock(&DIRECTORY).get(&text_of(name)).cloned() else {
            return DbDne;
        };
        let handle = Handle {
            index,
            txn: 0,
            cursor: Unbounded,
        };
        let closed = thread.handles.iter().position(Option::is_none);
        let place = closed.unwrap_or(thread.handles.len());
        if closed.is_none() {
            thread.handles.push(None);
        }
        thread.handles[place] = Some(handle);
        *idx = (place + 1) as *mut IdxState;
        Success
    })
}

#[no_mangle]
pub extern "C" fn closeIndex(idx: *mut IdxState) -> ErrCode {
    guarded(|thread| {
        let place = (idx as usize).wrapping_sub(1);
        let closed = thread.handles.get_mut(place).and_then(Option::take);
        if closed.is_some() {
            Success
        } else {
            DbDne
        }
    })
}

#[no_mangle]
pub unsafe extern "C" fn beginTransaction(txn: *mut *mut TxnState) -> ErrCode {
    guarded(|thread| {
        if thread.open {
            return TxnExists;
        }
        thread.open = true;
        thread.txn += 1;
        *txn = thread.txn as *mut TxnState;
        Success
    })
}

#[no_mangle]
pub extern "C" fn abortTransaction(txn: *mut TxnState) -> ErrCode {
    guarded(|thread| {
        if !thread.is_open(txn) {
            return TxnDne;
        }
        while let Some(change) = thread.changes.pop() {
            match change {
                Change::Inserted(index, pair) => lock(&index.pairs).remove(&pair),
                Change::Deleted(index, pair) => lock(&index.pairs).insert(pair),
            };
        }
        thread.open = false;
        thread.lock = None; // unlocks
        Success
    })
}

#[no_mangle]
pub extern "C" fn commitTransaction(txn: *mut TxnState) -> ErrCode {
    guarded(|thread| {
        if !thread.is_open(txn) {
            return TxnDne;
        }
        thread.open = false;
        thread.lock = None;
        drop(take(&mut thread.changes));
        Success
    })
}

#[no_mangle]
pub unsafe extern "C" fn get(
    idx: *mut IdxState,
    txn: *mut TxnState,
    record: *mut Record,
) -> ErrCode {
    on_data(idx, txn, |index, cursor, _| {
        let Some(key) = key_of(index, &(*record).key) else {
            return Failure;
        };
        let pairs = lock(&index.pairs);
        let first = Included((key, Vec::new()));
        let found = pairs.range((first.clone(), Unbounded)).next();
        match (found, &first) {
            (Some(pair), Included((key, _))) if pair.0 == *key => {
                put_text(&mut (*record).payload, &pair.1);
                *cursor = Excluded(pair.clone());
                Success
            }
            _ => {
                *cursor = first;
                KeyNotFound
            }
        }
    })
}

#[no_mangle]
pub unsafe extern "C" fn getNext(
    idx: *mut IdxState,
    txn: *mut TxnState,
    record: *mut Record,
) -> ErrCode {
    on_data(idx, txn, |index, cursor, _| {
        let pairs = lock(&index.pairs);
        let Some(pair) = pairs.range((cursor.as_ref(), Unbounded)).next() else {
            return DbEnd;
        };
        put_pair(index, pair, &mut *record);
        *cursor = Excluded(pair.clone());
        Success
    })
}

#[no_mangle]
pub unsafe extern "C" fn insertRecord(
    idx: *mut IdxState,
    txn: *mut TxnState,
    key: *mut Key,
    payload: *const c_char,
) -> ErrCode {
    on_data(idx, txn, |index, _, changes| {
        let Some(key) = key_of(index, &*key) else {
            return Failure;
        };
        let pair = (key, text_of(payload));
        if pair.1.len() > MAX_PAYLOAD_LEN {
            return Failure;
        }
        if !lock(&index.pairs).insert(pair.clone()) {
            return EntryExists;
        }
        changes.push(Change::Inserted(index.clone(), pair));
        Success
    })
}

#[no_mangle]
pub unsafe extern "C" fn deleteRecord(
    idx: *mut IdxState,
    txn: *mut TxnState,
    record: *mut Record,
) -> ErrCode {
    on_data(idx, txn, |index, _, changes| {
        let Some(key) = key_of(index, &(*record).key) else {
            return Failure;
        };
        let payload = text_of((*record).payload.as_ptr().cast());
        let mut pairs = lock(&index.pairs);
        if !payload.is_empty() {
            let Some(pair) = pairs.take(&(key, payload)) else {
                return EntryDne;
            };
            changes.push(Change::Deleted(index.clone(), pair));
            return Success;
        }
        let first = (key, payload);
        let all = pairs
            .range(&first..)
            .take_while(|pair| pair.0 == first.0)
            .cloned();
        let all: Vec<Pair> = all.collect();
        if all.is_empty() {
            return KeyNotFound;
        }
        for pair in all {
            pairs.remove(&pair);
            changes.push(Change::Deleted(index.clone(), pair));
        }
        Success
    })
}
