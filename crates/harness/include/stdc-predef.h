/* gcc reads this file before every C and C++ source; clang does not.
 *
 * gcc expands memcpy, strcpy, sprintf and their like into plain moves after its instrumentation
 * pass, so that nobody sees these accesses. `raddle cc` keeps calls of the functions' own names
 * (-fno-builtin-...). Here are the spellings that no option turns off: __builtin_memcpy, which
 * libstdc++ uses, and __builtin___memcpy_chk, which _FORTIFY_SOURCE uses. If gcc can not know how
 * much room there is, it leaves a call of the checking function, which the runtime interposes.
 *
 * memcpy and memmove of 1, 2, 4 or 8 bytes stay as they are: gcc makes them an assignment before
 * it instruments, and a call would cost ten times as much where programs read integers this way.
 *
 * Only macros are here: a declaration would turn off precompiled headers. */
#pragma GCC system_header
#if __has_include_next(<stdc-predef.h>)
#include_next <stdc-predef.h>
#endif

#if defined __SANITIZE_THREAD__ && !defined __clang__ && !defined __ASSEMBLER__

/* The upper bits of an address are 0, which gcc does not know. */
#define __RADDLE_ZERO ((__SIZE_TYPE__)__builtin_return_address(0) >> 58)
#define __RADDLE_HIDE(room) ((__SIZE_TYPE__)(room) >> __RADDLE_ZERO)
#define __RADDLE_ROOM __RADDLE_HIDE(-1)

/* gcc makes no assignment of a copy from a string that it knows. */
#define __RADDLE_ASSIGNED(from, n) \
  (__builtin_constant_p(n) && ((n) == 1 || (n) == 2 || (n) == 4 || (n) == 8) && \
   (__builtin_object_size(from, 0) == (__SIZE_TYPE__)-1 || \
    (__builtin_object_size(from, 0) == (n) && !__builtin_constant_p(*(const char *)(from)))))

/* A comma in braces or in a template's arguments makes more than three arguments: then the size is
 * not known here, and the copy is a call. */
#define __RADDLE_TENTH(a, b, c, d, e, f, g, h, i, j, ...) j
#define __RADDLE_COPY(three, more, ...) \
  __RADDLE_TENTH(__VA_ARGS__, more, more, more, more, more, more, three, three, three, ) \
  (__VA_ARGS__)

#define __RADDLE_MEMCPY3(to, from, n) \
  (__RADDLE_ASSIGNED(from, n) ? __builtin_memcpy(to, from, n) \
                              : __builtin___memcpy_chk(to, from, n, __RADDLE_ROOM))
#define __RADDLE_MEMCPY(...) __builtin___memcpy_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_memcpy(...) __RADDLE_COPY(__RADDLE_MEMCPY3, __RADDLE_MEMCPY, __VA_ARGS__)
#define __builtin___memcpy_chk(to, from, n, room) \
  (__RADDLE_ASSIGNED(from, n) ? __builtin___memcpy_chk(to, from, n, room) \
                              : __builtin___memcpy_chk(to, from, n, __RADDLE_HIDE(room)))

#define __RADDLE_MEMMOVE3(to, from, n) \
  (__RADDLE_ASSIGNED(from, n) ? __builtin_memmove(to, from, n) \
                              : __builtin___memmove_chk(to, from, n, __RADDLE_ROOM))
#define __RADDLE_MEMMOVE(...) __builtin___memmove_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_memmove(...) __RADDLE_COPY(__RADDLE_MEMMOVE3, __RADDLE_MEMMOVE, __VA_ARGS__)
#define __builtin___memmove_chk(to, from, n, room) \
  (__RADDLE_ASSIGNED(from, n) ? __builtin___memmove_chk(to, from, n, room) \
                              : __builtin___memmove_chk(to, from, n, __RADDLE_HIDE(room)))

#define __builtin_mempcpy(...) __builtin___mempcpy_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_memset(...) __builtin___memset_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_strcpy(...) __builtin___strcpy_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_stpcpy(...) __builtin___stpcpy_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_strcat(...) __builtin___strcat_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_strncpy(...) __builtin___strncpy_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_stpncpy(...) __builtin___stpncpy_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_strncat(...) __builtin___strncat_chk(__VA_ARGS__, __RADDLE_ROOM)
#define __builtin_bzero(to, ...) ((void)__builtin___memset_chk(to, 0, __VA_ARGS__, __RADDLE_ROOM))
#define __builtin_sprintf(to, ...) __builtin___sprintf_chk(to, 0, __RADDLE_ROOM, __VA_ARGS__)
#define __builtin_snprintf(to, n, ...) \
  __builtin___snprintf_chk(to, n, 0, __RADDLE_ROOM, __VA_ARGS__)

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
