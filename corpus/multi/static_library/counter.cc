// A counter with a careless and a careful setter, linked from an archive.
#include "counter.h"
#include <mutex>

namespace counter {
static std::mutex mu;
long value, safe_value;

void reset() {
    value = 0;
    safe_value = 0;
}

void set(long v) {
    value = v;                                          // expect: data-race write write #1
}

void set_safely(long v) {
    std::lock_guard<std::mutex> hold(mu);
    safe_value = v;
}
}
