// IndexApi: the ten functions of a loaded library. The harness fills it by dlsym; tests fill it
// with their own.
#pragma once

#include "keydrome/index.h"

namespace keydrome {

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

}  // namespace keydrome
