#pragma once
// The words in which every tool reports counters: cycles and instructions with a prefix, and per
// byte; absent ones with their reason. `Results` has count(), real() and absent() as
// transport/results.h has them; a template, since receivers/perf includes no other room.

#include <string>
#include <vector>

#include "receivers/perf/counters.h"

namespace vsb::perf {

// The sum over threads; absent when one of them is.
Count sum(const std::vector<Count>& counts);

template <class Results>
void add_count(Results& results, const std::string& key, const Count& count, std::uint64_t bytes,
               const char* per_what = "_per_byte") {
    if (!count.value) {
        results.absent(key, count.reason);
        results.absent(key + per_what, count.reason);
        return;
    }
    results.count(key, *count.value);
    results.real(key + per_what, static_cast<double>(*count.value) / static_cast<double>(bytes));
}

template <class Results>
void add_counts(Results& results, const std::string& prefix, const Counts& counts,
                std::uint64_t bytes, const char* per_what = "_per_byte") {
    add_count(results, prefix + "cycles", counts.cycles, bytes, per_what);
    add_count(results, prefix + "instructions", counts.instructions, bytes, per_what);
}

Counts sum(const std::vector<Counts>& counts);

}  // namespace vsb::perf
