/* Takes back what gcc_calls_begin.h defined. */
#pragma GCC system_header
#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma pop_macro("__builtin_memcpy")
#pragma pop_macro("__builtin_memmove")
#pragma pop_macro("__builtin_memset")
#pragma pop_macro("__builtin___memcpy_chk")
#pragma pop_macro("__builtin___memmove_chk")
#pragma pop_macro("__builtin___mempcpy_chk")
#pragma pop_macro("__builtin___memset_chk")
#pragma pop_macro("__builtin___strcpy_chk")
#pragma pop_macro("__builtin___stpcpy_chk")
#pragma pop_macro("__builtin___strcat_chk")
#pragma pop_macro("__builtin___strncpy_chk")
#pragma pop_macro("__builtin___stpncpy_chk")
#pragma pop_macro("__builtin___strncat_chk")
#pragma pop_macro("__builtin___sprintf_chk")
#pragma pop_macro("__builtin___vsprintf_chk")
#pragma pop_macro("__builtin___snprintf_chk")
#pragma pop_macro("__builtin___vsnprintf_chk")
#endif
