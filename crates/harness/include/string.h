/* <string.h> of the C library, with memcpy and memmove defined as its own _FORTIFY_SOURCE would.
 * Those of 1, 2, 4 or 8 bytes are assignments, which gcc instruments, and all others stay calls.
 * See raddle/gcc_calls_begin.h. A program that has given these names another meaning keeps it. */
#pragma GCC system_header
#include_next <string.h>

#if !defined __RADDLE_STRING_H && defined __SANITIZE_THREAD__ && !defined __clang__ && \
    defined __OPTIMIZE__ && defined __fortify_function && __USE_FORTIFY_LEVEL == 0 && \
    !defined memcpy && !defined memmove
#define __RADDLE_STRING_H
#include <raddle/gcc_calls_begin.h>
#include <raddle/gcc_calls_end.h>

__BEGIN_DECLS
typedef unsigned short __raddle_two __attribute__((__may_alias__, __aligned__(1)));
typedef unsigned int __raddle_four __attribute__((__may_alias__, __aligned__(1)));
typedef unsigned long __raddle_eight __attribute__((__may_alias__, __aligned__(1)));

#define __RADDLE_ASSIGN(type) return *(type *)__to = *(const type *)__from, __to
#define __RADDLE_ASSIGN_OR(call) \
  if (__builtin_constant_p(__n) && __n == 1) __RADDLE_ASSIGN(unsigned char); \
  if (__builtin_constant_p(__n) && __n == 2) __RADDLE_ASSIGN(__raddle_two); \
  if (__builtin_constant_p(__n) && __n == 4) __RADDLE_ASSIGN(__raddle_four); \
  if (__builtin_constant_p(__n) && __n == 8) __RADDLE_ASSIGN(__raddle_eight); \
  return call

__fortify_function void *
__NTH(memcpy(void *__restrict __to, const void *__restrict __from, size_t __n)) {
  __RADDLE_ASSIGN_OR(__builtin___memcpy_chk(__to, __from, __n, __RADDLE_ROOM));
}
__fortify_function void *
__NTH(memmove(void *__to, const void *__from, size_t __n)) {
  __RADDLE_ASSIGN_OR(__builtin___memmove_chk(__to, __from, __n, __RADDLE_ROOM));
}
__END_DECLS
#endif
