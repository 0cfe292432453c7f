/* See raddle/gcc_calls_begin.h. */
#pragma GCC system_header
#include <raddle/gcc_calls_begin.h>
#include_next <bits/hashtable.h>
#include <raddle/gcc_calls_end.h>
