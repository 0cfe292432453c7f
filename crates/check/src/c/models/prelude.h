/* What the common system headers declare, for source whose headers are not to be had. Types are opaque and of the
   size that glibc gives them on x86-64; functions that matter are defined in the .c files beside this one. */
typedef unsigned long size_t; typedef long ssize_t; typedef long ptrdiff_t; typedef int wchar_t; typedef long max_align_t;
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long uint64_t;
typedef signed char int_least8_t; typedef short int_least16_t; typedef int int_least32_t; typedef long int_least64_t;
typedef unsigned char uint_least8_t; typedef unsigned short uint_least16_t; typedef unsigned int uint_least32_t; typedef unsigned long uint_least64_t;
typedef long int_fast8_t; typedef long int_fast16_t; typedef long int_fast32_t; typedef long int_fast64_t;
typedef unsigned long uint_fast8_t; typedef unsigned long uint_fast16_t; typedef unsigned long uint_fast32_t; typedef unsigned long uint_fast64_t;
typedef long intptr_t; typedef unsigned long uintptr_t; typedef long intmax_t; typedef unsigned long uintmax_t;
typedef unsigned int uint; typedef unsigned long ulong; typedef unsigned short ushort; typedef unsigned char u_char; typedef unsigned int u_int; typedef unsigned long u_long;
typedef unsigned char u_int8_t; typedef unsigned short u_int16_t; typedef unsigned int u_int32_t; typedef unsigned long u_int64_t;
typedef int pid_t; typedef unsigned int uid_t; typedef unsigned int gid_t; typedef unsigned int mode_t; typedef long off_t; typedef long off64_t; typedef long loff_t;
typedef long time_t; typedef long clock_t; typedef int clockid_t; typedef long suseconds_t; typedef unsigned int useconds_t;
typedef unsigned long dev_t; typedef unsigned long ino_t; typedef unsigned long nlink_t; typedef long blksize_t; typedef long blkcnt_t;
typedef unsigned int socklen_t; typedef unsigned short sa_family_t; typedef unsigned short in_port_t; typedef unsigned int in_addr_t; typedef unsigned int id_t; typedef int key_t;
typedef int sig_atomic_t; typedef int errno_t; typedef unsigned int wint_t; typedef int nl_item; typedef unsigned long nfds_t; typedef unsigned long rlim_t; typedef char *caddr_t;
typedef struct _IO_FILE { long __opaque[27]; } FILE; typedef struct __dirstream { long __opaque; } DIR; typedef struct { long __opaque[2]; } fpos_t; typedef struct { long __opaque; } mbstate_t;
typedef struct __va_list_tag { unsigned long next; } __builtin_va_list[1]; typedef __builtin_va_list va_list; typedef __builtin_va_list __gnuc_va_list;
struct timespec { time_t tv_sec; long tv_nsec; }; struct timeval { time_t tv_sec; suseconds_t tv_usec; };
struct itimerval { struct timeval it_interval; struct timeval it_value; }; struct itimerspec { struct timespec it_interval; struct timespec it_value; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; long tm_gmtoff; const char *tm_zone; };
struct stat { dev_t st_dev; ino_t st_ino; nlink_t st_nlink; mode_t st_mode; uid_t st_uid; gid_t st_gid; int __pad0; dev_t st_rdev; off_t st_size; blksize_t st_blksize; blkcnt_t st_blocks; struct timespec st_atim, st_mtim, st_ctim; long __reserved[3]; };
struct iovec { void *iov_base; size_t iov_len; }; struct pollfd { int fd; short events; short revents; };
struct in_addr { in_addr_t s_addr; }; struct sockaddr { sa_family_t sa_family; char sa_data[14]; }; struct sockaddr_in { sa_family_t sin_family; in_port_t sin_port; struct in_addr sin_addr; char sin_zero[8]; };
struct sockaddr_storage { sa_family_t ss_family; char __data[118]; long __align; };
struct rlimit { rlim_t rlim_cur, rlim_max; }; struct rusage { struct timeval ru_utime, ru_stime; long __rest[14]; };
struct option { const char *name; int has_arg; int *flag; int val; };
struct dirent { ino_t d_ino; off_t d_off; unsigned short d_reclen; unsigned char d_type; char d_name[256]; };
typedef struct { unsigned long __bits[16]; } fd_set; typedef struct { unsigned long __bits[16]; } cpu_set_t;
typedef struct { int quot, rem; } div_t; typedef struct { long quot, rem; } ldiv_t;
typedef struct { long __opaque[8]; int __saved; } __jmp_buf_tag; typedef __jmp_buf_tag jmp_buf[1]; typedef __jmp_buf_tag sigjmp_buf[1];
struct sched_param { int sched_priority; };

typedef unsigned long pthread_t; typedef union { char __size[56]; long __align; } pthread_attr_t;
typedef union { char __size[40]; long __align; } pthread_mutex_t; typedef union { int __kind; char __size[4]; } pthread_mutexattr_t;
typedef union { char __size[48]; long __align; } pthread_cond_t; typedef union { char __size[4]; int __align; } pthread_condattr_t;
typedef union { char __size[56]; long __align; } pthread_rwlock_t; typedef union { char __size[8]; long __align; } pthread_rwlockattr_t;
typedef union { char __size[32]; long __align; } pthread_barrier_t; typedef union { char __size[4]; int __align; } pthread_barrierattr_t;
typedef volatile int pthread_spinlock_t; typedef int pthread_once_t; typedef unsigned int pthread_key_t;
typedef union { char __size[32]; long __align; } sem_t;
struct sembuf { unsigned short sem_num; short sem_op; short sem_flg; };
#define IPC_PRIVATE 0
#define IPC_CREAT 512
#define IPC_EXCL 1024
#define IPC_NOWAIT 2048
#define IPC_RMID 0
#define SETVAL 16
#define SETALL 17
#define GETVAL 12
#define SEM_UNDO 4096
#define PTHREAD_MUTEX_INITIALIZER { { 0 } }
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 } }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 } }
#define PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP { { 0 } }
#define PTHREAD_COND_INITIALIZER { { 0 } }
#define PTHREAD_RWLOCK_INITIALIZER { { 0 } }
#define PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP { { 0 } }
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_DEFAULT 0
#define PTHREAD_MUTEX_TIMED_NP 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_RECURSIVE_NP 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_ERRORCHECK_NP 2
#define PTHREAD_MUTEX_ADAPTIVE_NP 3
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define PTHREAD_CANCEL_DEFERRED 0
#define PTHREAD_CANCEL_ASYNCHRONOUS 1
#define PTHREAD_CANCELED ((void *)-1)
#define PTHREAD_STACK_MIN 16384
#define PTHREAD_PRIO_INHERIT 1
#define PTHREAD_MUTEX_STALLED 0
#define PTHREAD_MUTEX_ROBUST 1
#define PTHREAD_MUTEX_ROBUST_NP 1
#define SEM_FAILED ((sem_t *)0)
typedef void *gpointer; typedef const void *gconstpointer; typedef int gint; typedef unsigned int guint; typedef int gboolean; typedef char gchar; typedef unsigned long gsize;
typedef struct { long __opaque; } GThread; typedef struct { long __opaque[2]; } GMutex; typedef struct { long __opaque[2]; } GRecMutex; typedef struct { long __opaque[2]; } GRWLock; typedef struct { long __opaque[2]; } GCond; typedef struct { long __opaque; } GThreadPool;
typedef unsigned long uv_thread_t; typedef pthread_mutex_t uv_mutex_t; typedef pthread_rwlock_t uv_rwlock_t; typedef pthread_cond_t uv_cond_t;
typedef struct { long __opaque; } SDL_Thread; typedef struct { long __opaque; } SDL_mutex; typedef struct { long __opaque; } SDL_cond;
#define SYS_futex 202
#define __NR_futex 202
#define SYS_gettid 186
#define __NR_gettid 186
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
struct __model_cleanup { void (*function)(void *); void *argument; struct __model_cleanup *next; };
#define pthread_cleanup_push(f, a) do { struct __model_cleanup __cleanup = { (f), (a), 0 }; __model_push_cleanup(&__cleanup);
#define pthread_cleanup_pop(run) __model_pop_cleanup(run); } while (0)

typedef unsigned long thrd_t; typedef int (*thrd_start_t)(void *); typedef union { char __size[40]; long __align; } mtx_t; typedef union { char __size[48]; long __align; } cnd_t;
typedef unsigned int tss_t; typedef void (*tss_dtor_t)(void *); typedef struct { int __data; } once_flag;
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 }; enum { thrd_success = 0, thrd_busy = 1, thrd_error = 2, thrd_nomem = 3, thrd_timedout = 4 };
#define ONCE_FLAG_INIT { 0 }
#define TSS_DTOR_ITERATIONS 4
#define thread_local _Thread_local
typedef enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst } memory_order;
#define __ATOMIC_RELAXED 0
#define __ATOMIC_CONSUME 1
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#define __ATOMIC_ACQ_REL 4
#define __ATOMIC_SEQ_CST 5
typedef _Atomic _Bool atomic_bool; typedef _Atomic char atomic_char; typedef _Atomic signed char atomic_schar; typedef _Atomic unsigned char atomic_uchar;
typedef _Atomic short atomic_short; typedef _Atomic unsigned short atomic_ushort; typedef _Atomic int atomic_int; typedef _Atomic unsigned int atomic_uint;
typedef _Atomic long atomic_long; typedef _Atomic unsigned long atomic_ulong; typedef _Atomic long long atomic_llong; typedef _Atomic unsigned long long atomic_ullong;
typedef _Atomic size_t atomic_size_t; typedef _Atomic ptrdiff_t atomic_ptrdiff_t; typedef _Atomic intptr_t atomic_intptr_t; typedef _Atomic uintptr_t atomic_uintptr_t;
typedef _Atomic intmax_t atomic_intmax_t; typedef _Atomic uintmax_t atomic_uintmax_t; typedef _Atomic int atomic_int_fast32_t; typedef _Atomic uint8_t atomic_uint_fast8_t; typedef _Atomic uint32_t atomic_uint_fast32_t; typedef _Atomic uint64_t atomic_uint_fast64_t;
typedef _Atomic int32_t atomic_int_least32_t; typedef _Atomic uint32_t atomic_uint_least32_t; typedef _Atomic uint64_t atomic_uint_least64_t;
typedef struct atomic_flag { _Atomic _Bool __flag; } atomic_flag;
#define ATOMIC_FLAG_INIT { 0 }
#define ATOMIC_VAR_INIT(x) (x)
#define kill_dependency(x) (x)
#define bool _Bool
#define true 1
#define false 0
#define NULL ((void *)0)
#define offsetof(t, m) __builtin_offsetof(t, m)
#define va_arg(l, t) __builtin_va_arg(l, t)
#define alignas _Alignas
#define alignof _Alignof
#define noreturn _Noreturn
#define static_assert _Static_assert
#define errno (*__errno_location())
#define assert(x) __model_assert((x) != 0)
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IONBF 2
#define _IOLBF 1
#define _IOFBF 0
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define TIME_UTC 1
#define TIMER_ABSTIME 1
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#define CHAR_BIT 8
#define CHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX 18446744073709551615UL
#define SSIZE_MAX 9223372036854775807L
#define INTPTR_MAX 9223372036854775807L
#define UINTPTR_MAX 18446744073709551615UL
#define PATH_MAX 4096
#define INT64_C(x) x##L
#define UINT64_C(x) x##UL
#define UINT32_C(x) x##U
#define PRIu64 "lu"
#define PRId64 "ld"
#define PRIx64 "lx"
#define PRIu32 "u"
#define PRId32 "d"
#define PRIx32 "x"
#define PRIuPTR "lu"
#define PRIxPTR "lx"
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define EBADF 9
#define EAGAIN 11
#define EWOULDBLOCK 11
#define ENOMEM 12
#define EACCES 13
#define EBUSY 16
#define EEXIST 17
#define EINVAL 22
#define EPIPE 32
#define ERANGE 34
#define EDEADLK 35
#define ETIMEDOUT 110
#define EOWNERDEAD 130
#define ENOTRECOVERABLE 131
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGRTMIN 34
#define SIGRTMAX 64
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_ERR ((void (*)(int))-1)
#define START_TEST(name) static void name(int _i)
#define END_TEST
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_NONE 0
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32
#define MAP_ANON 32
#define MAP_FAILED ((void *)-1)
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
#define SA_RESTART 0x10000000
#define SA_SIGINFO 4
#define SIGEV_SIGNAL 0
#define SIGEV_NONE 1
#define SIGEV_THREAD 2
#define ITIMER_REAL 0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF 2
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 64
#define O_EXCL 128
#define O_NONBLOCK 2048
typedef struct { unsigned long __bits[16]; } sigset_t; union sigval { int sival_int; void *sival_ptr; }; typedef union sigval sigval_t;
typedef struct { int si_signo, si_errno, si_code; int si_pid; union sigval si_value; long __rest[12]; } siginfo_t; typedef void (*sighandler_t)(int); typedef sighandler_t __sighandler_t;
struct sigaction { union { void (*sa_handler)(int); void (*sa_sigaction)(int, siginfo_t *, void *); }; sigset_t sa_mask; int sa_flags; void (*sa_restorer)(void); };
struct sigevent { union sigval sigev_value; int sigev_signo; int sigev_notify; void (*sigev_notify_function)(union sigval); void *sigev_notify_attributes; long __rest[4]; };
typedef struct { void *ss_sp; int ss_flags; size_t ss_size; } stack_t; typedef void *timer_t;
typedef struct { long __opaque[2]; } omp_lock_t; typedef struct { long __opaque[2]; } omp_nest_lock_t; typedef int omp_sched_t;
extern FILE *stdin, *stdout, *stderr; extern int optind, opterr, optopt; extern char *optarg; extern char **environ;
#define stdin stdin
#define stdout stdout
#define stderr stderr
#define __linux__ 1
#define __linux 1
#define linux 1
#define __unix__ 1
#define __gnu_linux__ 1
#define __x86_64__ 1
#define __x86_64 1
#define __amd64__ 1
#define __LP64__ 1
#define _LP64 1
#define __GNUC__ 12
#define __GNUC_MINOR__ 2
#define __GLIBC__ 2
#define __STDC__ 1
#define __STDC_VERSION__ 201710L
#define __STDC_HOSTED__ 1
#define __CHAR_BIT__ 8
#define __SIZEOF_POINTER__ 8
#define __SIZEOF_LONG__ 8
#define __SIZEOF_INT__ 4
#define __BYTE_ORDER__ 1234
#define __ORDER_LITTLE_ENDIAN__ 1234
#define __ORDER_BIG_ENDIAN__ 4321
#define __ORDER_PDP_ENDIAN__ 3412
#define __FLOAT_WORD_ORDER__ 1234
#define __LITTLE_ENDIAN 1234
#define __BIG_ENDIAN 4321
#define __PDP_ENDIAN 3412
#define __BYTE_ORDER 1234
#define __FLOAT_WORD_ORDER 1234
#define LITTLE_ENDIAN 1234
#define BIG_ENDIAN 4321
#define PDP_ENDIAN 3412
#define BYTE_ORDER 1234
#define __INT_MAX__ 2147483647
#define __LONG_MAX__ 9223372036854775807L
#define __func__ "function"
#define __FUNCTION__ "function"
#define __PRETTY_FUNCTION__ "function"
#define __DATE__ "date"
#define __TIME__ "time"
#define __BEGIN_DECLS
#define __END_DECLS
#define __THROW
#define __CPROVER 0
#define _OPENMP 201511
#define _REENTRANT 1
#define _POSIX_THREADS 200809L
#define HAVE_PTHREAD 1
#define HAVE_PTHREAD_H 1
