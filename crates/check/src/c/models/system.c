/* Time, signals, timers, processes, numbers. */
/* A program that reads errno has seen a call fail: EIO. */
_Thread_local int __model_errno = 5;
int *__errno_location(void) { return &__model_errno; }
void __model_assert(int ok) { if (!ok) __raddle_exit_process(134); }
unsigned sleep(unsigned n) { return __raddle_sleep(); }
int usleep(useconds_t n) { return __raddle_sleep(); }
int nanosleep(const struct timespec *d, struct timespec *left) { return __raddle_sleep(); }
int clock_nanosleep(clockid_t c, int f, const struct timespec *d, struct timespec *left) { return __raddle_sleep(); }
int sched_yield(void) { return __raddle_yield(); }
int poll(struct pollfd *p, nfds_t n, int t) { __raddle_sleep(); for (nfds_t i = 0; i < n; i++) p[i].revents = __raddle_unknown(); return __raddle_unknown(); }
int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) { __raddle_sleep(); return __raddle_unknown(); }
time_t time(time_t *t) { time_t now = __raddle_unknown(); if (t) *t = now; return now; }
clock_t clock(void) { return __raddle_unknown(); }
int clock_gettime(clockid_t c, struct timespec *t) { t->tv_sec = __raddle_unknown(); t->tv_nsec = __raddle_unknown(); return 0; }
int clock_getres(clockid_t c, struct timespec *t) { return 0; }
int timespec_get(struct timespec *t, int base) { t->tv_sec = __raddle_unknown(); t->tv_nsec = __raddle_unknown(); return base; }
int gettimeofday(struct timeval *t, void *z) { t->tv_sec = __raddle_unknown(); t->tv_usec = __raddle_unknown(); return 0; }
double difftime(time_t a, time_t b) { return __raddle_unknown(); }
void exit(int s) { __raddle_exit_process(s); }
void _exit(int s) { __raddle_exit_process(s); }
void _Exit(int s) { __raddle_exit_process(s); }
void quick_exit(int s) { __raddle_exit_process(s); }
void __assert_fail(const char *e, const char *f, unsigned l, const char *n) { __raddle_exit_process(134); }
void __assert_rtn(const char *e, const char *f, int l, const char *n) { __raddle_exit_process(134); }
void err(int s, const char *f, ...) { __raddle_exit_process(s); }
void errx(int s, const char *f, ...) { __raddle_exit_process(s); }
void warn(const char *f, ...) { }
void warnx(const char *f, ...) { }
/* setjmp is built in, because its place belongs to the calling function. */
void longjmp(jmp_buf b, int v) { __raddle_jump(b, v ? v : 1); }
void _longjmp(jmp_buf b, int v) { __raddle_jump(b, v ? v : 1); }
void siglongjmp(jmp_buf b, int v) { __raddle_jump(b, v ? v : 1); }
int atexit(void (*f)(void)) { return 0; }
/* The other process may do what this one waits for, so the locks held are unknown from now on. */
pid_t fork(void) { __raddle_unlock((void *)__raddle_unknown()); return __raddle_unknown(); }
/* A futex only sleeps and wakes. The atomic operations on its word create the order. */
long syscall(long n, ...) { if (n == 202 || n == 240) { __raddle_yield(); return 0; } return n == 186 ? gettid() : __raddle_unknown(); }
pid_t getpid(void) { return 4242; }
pid_t gettid(void) { return 4242 + ((int)__raddle_current() >> 12); }
int atoi(const char *s) { __raddle_text_length(s); return __raddle_unknown(); }
long atol(const char *s) { __raddle_text_length(s); return __raddle_unknown(); }
long long atoll(const char *s) { __raddle_text_length(s); return __raddle_unknown(); }
double atof(const char *s) { __raddle_text_length(s); return __raddle_unknown(); }
long strtol(const char *s, char **e, int b) { if (e) *e = (char *)__raddle_unknown(); return __raddle_unknown(); }
unsigned long strtoul(const char *s, char **e, int b) { if (e) *e = (char *)__raddle_unknown(); return __raddle_unknown(); }
long long strtoll(const char *s, char **e, int b) { if (e) *e = (char *)__raddle_unknown(); return __raddle_unknown(); }
unsigned long long strtoull(const char *s, char **e, int b) { if (e) *e = (char *)__raddle_unknown(); return __raddle_unknown(); }
double strtod(const char *s, char **e) { if (e) *e = (char *)__raddle_unknown(); return __raddle_unknown(); }
/* These compute what the builtins of the same names do. */
int ctzl(unsigned long x) { int n = 0; while (n < 64 && !(x >> n & 1)) n++; return n; }
int ctz(unsigned x) { return ctzl(x); }
int ctzll(unsigned long long x) { return ctzl(x); }
int clzl(unsigned long x) { int n = 0; while (n < 64 && !(x >> (63 - n) & 1)) n++; return n; }
int clz(unsigned x) { return clzl(x) - 32; }
int clzll(unsigned long long x) { return clzl(x); }
int popcountl(unsigned long x) { int n = 0; for (int i = 0; i < 64; i++) n += x >> i & 1; return n; }
int popcount(unsigned x) { return popcountl(x); }
int popcountll(unsigned long long x) { return popcountl(x); }
int parity(unsigned x) { return popcountl(x) & 1; }
int ffsl(long x) { return x ? ctzl(x) + 1 : 0; }
int ffs(int x) { return x ? ctzl((unsigned)x) + 1 : 0; }
int ffsll(long long x) { return x ? ctzl(x) + 1 : 0; }
unsigned short bswap16(unsigned short x) { return x << 8 | x >> 8; }
unsigned bswap32(unsigned x) { return x << 24 | x >> 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00); }
unsigned long bswap64(unsigned long x) { return (unsigned long)bswap32(x) << 32 | bswap32(x >> 32); }
uint32_t htonl(uint32_t x) { return bswap32(x); }
uint32_t ntohl(uint32_t x) { return bswap32(x); }
uint16_t htons(uint16_t x) { return bswap16(x); }
uint16_t ntohs(uint16_t x) { return bswap16(x); }
int abs(int x) { return x < 0 ? -x : x; }
long labs(long x) { return x < 0 ? -x : x; }
int rand(void) { return __raddle_unknown(); }
long random(void) { return __raddle_unknown(); }
void srand(unsigned s) { }
void srandom(unsigned s) { }
int rand_r(unsigned *s) { *s = __raddle_unknown(); return __raddle_unknown(); }
long lrand48(void) { return __raddle_unknown(); }
double drand48(void) { return __raddle_unknown(); }
char *getenv(const char *n) { return (char *)__raddle_unknown(); }
int isatty(int fd) { return __raddle_unknown(); }
long sysconf(int n) { return __raddle_unknown(); }
int get_nprocs(void) { return __raddle_unknown(); }
int getopt(int c, char *const v[], const char *o) { return __raddle_unknown(); }
int getopt_long(int c, char *const v[], const char *o, const struct option *l, int *i) { return __raddle_unknown(); }
int isdigit(int c) { return c >= '0' && c <= '9'; }
int isspace(int c) { return c == ' ' || c >= 9 && c <= 13; }
int isalpha(int c) { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'; }
int isalnum(int c) { return isalpha(c) || isdigit(c); }
int isupper(int c) { return c >= 'A' && c <= 'Z'; }
int islower(int c) { return c >= 'a' && c <= 'z'; }
int isprint(int c) { return c >= 32 && c < 127; }
int toupper(int c) { return islower(c) ? c - 32 : c; }
int tolower(int c) { return isupper(c) ? c + 32 : c; }
double sqrt(double x) { return __raddle_unknown(); }
double pow(double x, double y) { return __raddle_unknown(); }
double sin(double x) { return __raddle_unknown(); }
double cos(double x) { return __raddle_unknown(); }
double exp(double x) { return __raddle_unknown(); }
double log(double x) { return __raddle_unknown(); }
double floor(double x) { return __raddle_unknown(); }
double ceil(double x) { return __raddle_unknown(); }
double fabs(double x) { return x < 0 ? -x : x; }

/* A fault is caused by the thread's own instruction, so it does not interrupt other code. */
static int __model_is_fault(int s) { return s == SIGSEGV || s == SIGFPE || s == SIGILL || s == SIGABRT || s == SIGPIPE || s == 5 || s == 7 || s == 31; }
/* The signal of a timer comes after the program has set the timer, and not before. */
static int __model_timer_set;
static int __model_waits_for_timer(int s) { return __raddle_is_known(s) && (s == SIGALRM || s == 26 || s == 27) && !__atomic_load_n(&__model_timer_set, __ATOMIC_RELAXED); }
static void __model_handle(int s, sighandler_t f) {
  if (__model_is_fault(s)) return;
  if (__raddle_is_known((long)f) && (long)f <= 1) __raddle_interrupt_off(s);
  else if (!__model_waits_for_timer(s)) __raddle_interrupt(f, s);
}
/* The handler of each signal: programs ask for it before they set or remove one. */
static long __model_handlers[65];
static sighandler_t __model_handler(int s) { return __raddle_is_known(s) && s > 0 && s < 65 ? (sighandler_t)__atomic_load_n(&__model_handlers[s], __ATOMIC_RELAXED) : (sighandler_t)__raddle_unknown(); }
static void __model_set_handler(int s, sighandler_t f) { if (__raddle_is_known(s) && s > 0 && s < 65) __atomic_store_n(&__model_handlers[s], (long)f, __ATOMIC_RELAXED); __model_handle(s, f); }
sighandler_t signal(int s, sighandler_t f) { sighandler_t old = __model_handler(s); __model_set_handler(s, f); return old; }
int sigaction(int s, const struct sigaction *a, struct sigaction *old) {
  sighandler_t now = __model_handler(s), next = a ? a->sa_handler : 0;
  if (old) { __raddle_write(old, sizeof *old); old->sa_handler = now; }
  if (a) __model_set_handler(s, next);
  return 0;
}
int raise(int s) { __raddle_yield(); return 0; }
int kill(pid_t p, int s) { __raddle_yield(); return 0; }
int pause(void) { __raddle_pause(); return -1; }
static void __model_set_timer(int s) {
  sighandler_t f = __model_handler(s);
  __atomic_store_n(&__model_timer_set, 1, __ATOMIC_RELAXED);
  if (__raddle_is_known((long)f) && (long)f > 1) __raddle_interrupt(f, s);
}
unsigned alarm(unsigned n) { if (n) __model_set_timer(SIGALRM); return 0; }
useconds_t ualarm(useconds_t n, useconds_t i) { if (n) __model_set_timer(SIGALRM); return 0; }
int sigemptyset(sigset_t *s) { s->__bits[0] = 0; return 0; }
int sigfillset(sigset_t *s) { s->__bits[0] = -1UL; return 0; }
int sigaddset(sigset_t *s, int n) { s->__bits[0] |= 1UL << (n - 1); return 0; }
int sigdelset(sigset_t *s, int n) { s->__bits[0] &= ~(1UL << (n - 1)); return 0; }
int sigismember(const sigset_t *s, int n) { return s->__bits[0] >> (n - 1) & 1; }
int pthread_sigmask(int h, const sigset_t *s, sigset_t *o) {
  unsigned long old = __raddle_get_mask();
  if (s) __raddle_set_mask(h == SIG_BLOCK ? old | s->__bits[0] : h == SIG_UNBLOCK ? old & ~s->__bits[0] : s->__bits[0]);
  if (o) o->__bits[0] = old;
  return 0;
}
int sigprocmask(int h, const sigset_t *s, sigset_t *o) { return pthread_sigmask(h, s, o); }
int sigsuspend(const sigset_t *s) { __raddle_pause(); return -1; }
int sigwait(const sigset_t *s, int *n) { __raddle_pause(); *n = __raddle_unknown(); return 0; }
int sigwaitinfo(const sigset_t *s, siginfo_t *i) { __raddle_pause(); return __raddle_unknown(); }
int sigtimedwait(const sigset_t *s, siginfo_t *i, const struct timespec *t) { __raddle_pause(); return __raddle_unknown(); }
int setitimer(int which, const struct itimerval *n, struct itimerval *o) {
  __model_set_timer(which == 1 ? 26 : which == 2 ? 27 : SIGALRM);
  return 0;
}

struct __model_timer { void (*function)(union sigval); void *argument; };
int timer_create(clockid_t c, struct sigevent *e, timer_t *t) {
  struct __model_timer *x = (struct __model_timer *)__raddle_alloc_zero(sizeof(struct __model_timer));
  if (e && e->sigev_notify == SIGEV_THREAD) { x->function = e->sigev_notify_function; x->argument = e->sigev_value.sival_ptr; }
  *t = x; return 0;
}
static void *__model_run_tick(struct __model_timer *t) { union sigval v; v.sival_ptr = t->argument; t->function(v); return 0; }
int timer_settime(timer_t t, int f, const struct itimerspec *n, struct itimerspec *o) {
  struct __model_timer *x = t;
  if (!x || !x->function) { __model_set_timer(SIGALRM); return 0; }
  if (n->it_value.tv_sec == 0 && n->it_value.tv_nsec == 0) __raddle_timer_stop(x);
  else __raddle_timer_start(x, __model_run_tick, x, n->it_interval.tv_sec != 0 || n->it_interval.tv_nsec != 0);
  return 0;
}
int timer_delete(timer_t t) { return __raddle_timer_stop(t); }
int timer_gettime(timer_t t, struct itimerspec *n) { __raddle_write(n, sizeof *n); return 0; }
int timer_getoverrun(timer_t t) { return 0; }

int omp_get_thread_num(void) { return __raddle_team_id(); }
int omp_get_num_threads(void) { return __raddle_team_size(); }
int omp_get_max_threads(void) { return 3; }
int omp_get_num_procs(void) { return 3; }
int omp_in_parallel(void) { return __raddle_team_size() > 1; }
void omp_set_num_threads(int n) { }
void omp_set_dynamic(int n) { }
void omp_set_nested(int n) { }
double omp_get_wtime(void) { return __raddle_unknown(); }
void omp_init_lock(omp_lock_t *l) { __raddle_lock_init(l, 0); }
void omp_destroy_lock(omp_lock_t *l) { __raddle_lock_destroy(l); }
void omp_set_lock(omp_lock_t *l) { __raddle_lock(l); }
void omp_unset_lock(omp_lock_t *l) { __raddle_unlock(l); }
int omp_test_lock(omp_lock_t *l) { return !__raddle_try_lock(l); }
void omp_init_nest_lock(omp_nest_lock_t *l) { __raddle_lock_init(l, 1); }
void omp_destroy_nest_lock(omp_nest_lock_t *l) { __raddle_lock_destroy(l); }
void omp_set_nest_lock(omp_nest_lock_t *l) { __raddle_lock(l); }
void omp_unset_nest_lock(omp_nest_lock_t *l) { __raddle_unlock(l); }

int __VERIFIER_nondet_int(void) { return __raddle_unknown(); }
unsigned __VERIFIER_nondet_uint(void) { return __raddle_unknown(); }
short __VERIFIER_nondet_short(void) { return __raddle_unknown(); }
unsigned short __VERIFIER_nondet_ushort(void) { return __raddle_unknown(); }
long __VERIFIER_nondet_long(void) { return __raddle_unknown(); }
unsigned long __VERIFIER_nondet_ulong(void) { return __raddle_unknown(); }
char __VERIFIER_nondet_char(void) { return __raddle_unknown(); }
unsigned char __VERIFIER_nondet_uchar(void) { return __raddle_unknown(); }
_Bool __VERIFIER_nondet_bool(void) { return __raddle_choose(0, 1); }
void *__VERIFIER_nondet_pointer(void) { return (void *)__raddle_unknown(); }
void __VERIFIER_assume(int c) { __raddle_assume(c); }
void __VERIFIER_error(void) { __raddle_exit_process(134); }
void __VERIFIER_assert(int c) { if (!c) __raddle_exit_process(134); }
void reach_error(void) { __raddle_exit_process(134); }
static char __model_atomic_section;
void __VERIFIER_atomic_begin(void) { __raddle_lock_static(&__model_atomic_section, 1); __raddle_lock(&__model_atomic_section); }
void __VERIFIER_atomic_end(void) { __raddle_unlock(&__model_atomic_section); }
