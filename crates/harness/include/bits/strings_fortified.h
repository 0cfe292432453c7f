/* See raddle/gcc_calls_begin.h. A program may have defined memcpy as __builtin_memcpy. */
#pragma GCC system_header
#include <raddle/gcc_calls_begin.h>
#if defined __SANITIZE_THREAD__ && !defined __clang__
#undef __builtin_memcpy
#undef __builtin_memmove
#undef __builtin_memset
#endif
#include_next <bits/strings_fortified.h>
#include <raddle/gcc_calls_end.h>
