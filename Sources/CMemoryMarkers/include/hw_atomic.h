/// Atomic operations on words that threads share.
///
/// In C, because Swift's atomics are in a library of their own, Synchronization, which takes 68 KiB of resident memory
/// (Swift 6.3.1, x86_64, 2026-11).

#ifndef HW_ATOMIC_H
#define HW_ATOMIC_H

#include <stdint.h>

#pragma clang assume_nonnull begin

static inline uint64_t hw_atomic_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static inline void hw_atomic_store(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

static inline uint64_t hw_atomic_exchange(uint64_t *word, uint64_t value) {
  return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}

/// @return The sum.
static inline uint64_t hw_atomic_add(uint64_t *word, uint64_t value) {
  return __atomic_add_fetch(word, value, __ATOMIC_RELAXED);
}

static inline void hw_atomic_or(uint64_t *word, uint64_t bits) { __atomic_fetch_or(word, bits, __ATOMIC_RELAXED); }

/// @return Whether the word had the expected value, and was replaced.
static inline int hw_atomic_replace(uint64_t *word, uint64_t expected, uint64_t value) {
  return __atomic_compare_exchange_n(word, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#pragma clang assume_nonnull end

#endif
