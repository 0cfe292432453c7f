#pragma once
namespace counter {
void reset();
void set(long value); // not thread-safe
void set_safely(long value);
}
