/* For gcc only: what keeps calls inside the C and C++ libraries' own headers from being expanded.
 *
 * gcc expands memcpy, strcpy, sprintf and their like into plain moves after its instrumentation
 * pass, so that nobody sees these accesses. `raddle cc` keeps calls of the functions' own names
 * (-fno-builtin-...). No option turns off the spellings __builtin_memcpy, which libstdc++ uses, and
 * __builtin___memcpy_chk, which _FORTIFY_SOURCE uses. Here they are macros that make gcc leave a
 * call: if gcc cannot know how much room there is, it calls the checking function, which the
 * runtime interposes.
 *
 * The headers in ../bits and ../bitset include this file before and gcc_calls_end.h after the
 * library's header of the same name. A program's own code never sees the macros: there they would
 * break prototypes, commas in braces, and arguments that cannot be written twice.
 *
 * memcpy and memmove of 1, 2, 4 or 8 bytes stay as they are: gcc makes them an assignment before
 * it instruments, and a call would cost ten times as much where programs read integers this way. */
#pragma GCC system_header
#if defined __SANITIZE_THREAD__ && !defined __clang__

#ifndef __RADDLE_ZERO
/* The upper bits of an address are 0, which gcc does not know. */
#define __RADDLE_ZERO ((__SIZE_TYPE__)__builtin_return_address(0) >> 58)
#define __RADDLE_HIDE(room) ((__SIZE_TYPE__)(room) >> __RADDLE_ZERO)
#define __RADDLE_ROOM __RADDLE_HIDE(-1)

/* gcc makes no assignment of a copy from a string that it knows. */
#define __RADDLE_ASSIGNED(from, n) \
  (__builtin_constant_p(n) && ((n) == 1 || (n) == 2 || (n) == 4 || (n) == 8) && \
   (__builtin_object_size(from, 0) == (__SIZE_TYPE__)-1 || \
    (__builtin_object_size(from, 0) == (n) && !__builtin_constant_p(*(const char *)(from)))))
#endif

#pragma push_macro("__builtin_memcpy")
#pragma push_macro("__builtin_memmove")
#pragma push_macro("__builtin_memset")
#pragma push_macro("__builtin___memcpy_chk")
#pragma push_macro("__builtin___memmove_chk")
#pragma push_macro("__builtin___mempcpy_chk")
#pragma push_macro("__builtin___memset_chk")
#pragma push_macro("__builtin___strcpy_chk")
#pragma push_macro("__builtin___stpcpy_chk")
#pragma push_macro("__builtin___strcat_chk")
#pragma push_macro("__builtin___strncpy_chk")
#pragma push_macro("__builtin___stpncpy_chk")
#pragma push_macro("__builtin___strncat_chk")
#pragma push_macro("__builtin___sprintf_chk")
#pragma push_macro("__builtin___vsprintf_chk")
#pragma push_macro("__builtin___snprintf_chk")
#pragma push_macro("__builtin___vsnprintf_chk")
#undef __builtin_memcpy
#undef __builtin_memmove
#undef __builtin_memset
#undef __builtin___memcpy_chk
#undef __builtin___memmove_chk
#undef __builtin___mempcpy_chk
#undef __builtin___memset_chk
#undef __builtin___strcpy_chk
#undef __builtin___stpcpy_chk
#undef __builtin___strcat_chk
#undef __builtin___strncpy_chk
#undef __builtin___stpncpy_chk
#undef __builtin___strncat_chk
#undef __builtin___sprintf_chk
#undef __builtin___vsprintf_chk
#undef __builtin___snprintf_chk
#undef __builtin___vsnprintf_chk

#define __builtin_memcpy(to, from, n) \
  (__RADDLE_ASSIGNED(from, n) ? __builtin_memcpy(to, from, n) \
                              : __builtin___memcpy_chk(to, from, n, __RADDLE_ROOM))
#define __builtin___memcpy_chk(to, from, n, room) \
  (__RADDLE_ASSIGNED(from, n) ? __builtin___memcpy_chk(to, from, n, room) \
                              : __builtin___memcpy_chk(to, from, n, __RADDLE_HIDE(room)))
#define __builtin_memmove(to, from, n) \
  (__RADDLE_ASSIGNED(from, n) ? __builtin_memmove(to, from, n) \
                              : __builtin___memmove_chk(to, from, n, __RADDLE_ROOM))
#define __builtin___memmove_chk(to, from, n, room) \
  (__RADDLE_ASSIGNED(from, n) ? __builtin___memmove_chk(to, from, n, room) \
                              : __builtin___memmove_chk(to, from, n, __RADDLE_HIDE(room)))
#define __builtin_memset(to, byte, n) __builtin___memset_chk(to, byte, n, __RADDLE_ROOM)
#define __builtin___mempcpy_chk(to, from, n, room) \
  __builtin___mempcpy_chk(to, from, n, __RADDLE_HIDE(room))
#define __builtin___memset_chk(to, byte, n, room) \
  __builtin___memset_chk(to, byte, n, __RADDLE_HIDE(room))
#define __builtin___strcpy_chk(to, from, room) \
  __builtin___strcpy_chk(to, from, __RADDLE_HIDE(room))
#define __builtin___stpcpy_chk(to, from, room) \
  __builtin___stpcpy_chk(to, from, __RADDLE_HIDE(room))
#define __builtin___strcat_chk(to, from, room) \
  __builtin___strcat_chk(to, from, __RADDLE_HIDE(room))
#define __builtin___strncpy_chk(to, from, n, room) \
  __builtin___strncpy_chk(to, from, n, __RADDLE_HIDE(room))
#define __builtin___stpncpy_chk(to, from, n, room) \
  __builtin___stpncpy_chk(to, from, n, __RADDLE_HIDE(room))
#define __builtin___strncat_chk(to, from, n, room) \
  __builtin___strncat_chk(to, from, n, __RADDLE_HIDE(room))
#define __builtin___sprintf_chk(to, flag, room, ...) \
  __builtin___sprintf_chk(to, flag, __RADDLE_HIDE(room), __VA_ARGS__)
#define __builtin___vsprintf_chk(to, flag, room, ...) \
  __builtin___vsprintf_chk(to, flag, __RADDLE_HIDE(room), __VA_ARGS__)
#define __builtin___snprintf_chk(to, n, flag, room, ...) \
  __builtin___snprintf_chk(to, n, flag, __RADDLE_HIDE(room), __VA_ARGS__)
#define __builtin___vsnprintf_chk(to, n, flag, room, ...) \
  __builtin___vsnprintf_chk(to, n, flag, __RADDLE_HIDE(room), __VA_ARGS__)
#endif
