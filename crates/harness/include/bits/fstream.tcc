/* See raddle/gcc_calls_begin.h. */
#pragma GCC system_header
#include <raddle/gcc_calls_begin.h>
#include_next <bits/fstream.tcc>
#include <raddle/gcc_calls_end.h>
