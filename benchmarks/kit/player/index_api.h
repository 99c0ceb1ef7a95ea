// IndexApi: a table of pointers to the ten functions of a library. The player, the process that
// tests the library, makes all its calls through this table. The player fills the table with
// dlsym, and tests fill it with functions of their own.
#pragma once

#include "keydrome/index.h"

namespace keydrome::player {

struct IndexApi {
  decltype(&::create) create = nullptr;
  decltype(&::openIndex) openIndex = nullptr;
  decltype(&::closeIndex) closeIndex = nullptr;
  decltype(&::beginTransaction) beginTransaction = nullptr;
  decltype(&::abortTransaction) abortTransaction = nullptr;
  decltype(&::commitTransaction) commitTransaction = nullptr;
  decltype(&::get) get = nullptr;
  decltype(&::getNext) getNext = nullptr;
  decltype(&::insertRecord) insertRecord = nullptr;
  decltype(&::deleteRecord) deleteRecord = nullptr;
};

}  // namespace keydrome::player
