/* POSIX threads: one small definition each. `__raddle_` names are instructions of the intermediate
   code. */
_Thread_local struct __model_cleanup *__model_cleanups;
void __model_push_cleanup(struct __model_cleanup *c) { c->next = __model_cleanups; __model_cleanups = c; }
void __model_pop_cleanup(int run) { struct __model_cleanup *c = __model_cleanups; __model_cleanups = c->next; if (run) c->function(c->argument); }

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg) { *t = __raddle_start(f, arg); return 0; }
int pthread_join(pthread_t t, void **result) { void *r = (void *)__raddle_join(t); if (result) *result = r; return 0; }
int pthread_tryjoin_np(pthread_t t, void **result) { return __raddle_try_join(t) ? EBUSY : 0; }
int pthread_timedjoin_np(pthread_t t, void **result, const struct timespec *at) { return __raddle_try_join(t) ? ETIMEDOUT : 0; }
int pthread_clockjoin_np(pthread_t t, void **result, clockid_t c, const struct timespec *at) { return __raddle_try_join(t) ? ETIMEDOUT : 0; }
int pthread_detach(pthread_t t) { return __raddle_detach(t); }
/* The header's own macros for cleanup handlers expand to these. The handlers do not run here, so it
   is uncertain which locks they release. */
_Thread_local int __model_registered;
void __pthread_register_cancel(void *b) { __model_registered++; }
void __pthread_unregister_cancel(void *b) { __model_registered--; }
void __pthread_unwind_next(void *b) { __raddle_assume(0); }
void pthread_exit(void *result) { while (__model_cleanups) __model_pop_cleanup(1); if (__model_registered) __raddle_unlock(__raddle_unknown()); __raddle_exit_thread(result); }
pthread_t pthread_self(void) { return __raddle_current(); }
int pthread_equal(pthread_t a, pthread_t b) { return a == b; }
int pthread_yield(void) { return __raddle_yield(); }
int pthread_cancel(pthread_t t) { return __raddle_cancel(t, pthread_exit); }
void pthread_testcancel(void) { __raddle_yield(); }
int pthread_setcancelstate(int state, int *old) { if (old) *old = 0; return 0; }
int pthread_setcanceltype(int type, int *old) { if (old) *old = 0; return 0; }
int pthread_setname_np(pthread_t t, const char *name) { return 0; }
int pthread_getname_np(pthread_t t, char *name, size_t n) { __raddle_write(name, n); return 0; }
int pthread_atfork(void (*a)(void), void (*b)(void), void (*c)(void)) { return 0; }
int pthread_setconcurrency(int n) { return 0; }
int pthread_getconcurrency(void) { return 0; }
int pthread_setschedparam(pthread_t t, int p, const struct sched_param *s) { return 0; }
int pthread_getschedparam(pthread_t t, int *p, struct sched_param *s) { *p = 0; s->sched_priority = 0; return 0; }
int pthread_setaffinity_np(pthread_t t, size_t n, const cpu_set_t *s) { return 0; }
int pthread_getaffinity_np(pthread_t t, size_t n, cpu_set_t *s) { __raddle_write(s, n); return 0; }
int pthread_getcpuclockid(pthread_t t, clockid_t *c) { *c = 0; return 0; }
int pthread_kill(pthread_t t, int s) { return 0; }
int pthread_sigqueue(pthread_t t, int s, const union sigval v) { return 0; }

int pthread_attr_init(pthread_attr_t *a) { return 0; }
int pthread_attr_destroy(pthread_attr_t *a) { return 0; }
int pthread_attr_setdetachstate(pthread_attr_t *a, int s) { return 0; }
int pthread_attr_getdetachstate(const pthread_attr_t *a, int *s) { *s = 0; return 0; }
int pthread_attr_setstacksize(pthread_attr_t *a, size_t n) { return 0; }
int pthread_attr_getstacksize(const pthread_attr_t *a, size_t *n) { *n = 8388608; return 0; }
int pthread_attr_setscope(pthread_attr_t *a, int s) { return 0; }
int pthread_attr_setguardsize(pthread_attr_t *a, size_t n) { return 0; }
int pthread_attr_setschedpolicy(pthread_attr_t *a, int s) { return 0; }
int pthread_attr_setschedparam(pthread_attr_t *a, const struct sched_param *s) { return 0; }
int pthread_attr_setinheritsched(pthread_attr_t *a, int s) { return 0; }

int pthread_mutexattr_init(pthread_mutexattr_t *a) { a->__kind = 0; return 0; }
int pthread_mutexattr_destroy(pthread_mutexattr_t *a) { return 0; }
int pthread_mutexattr_settype(pthread_mutexattr_t *a, int kind) { a->__kind = (a->__kind & 16) | kind; return 0; }
int pthread_mutexattr_gettype(const pthread_mutexattr_t *a, int *kind) { *kind = a->__kind; return 0; }
int pthread_mutexattr_setpshared(pthread_mutexattr_t *a, int s) { return 0; }
int pthread_mutexattr_setrobust(pthread_mutexattr_t *a, int s) { a->__kind = (a->__kind & 15) | (s ? 16 : 0); return 0; }
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *a, int s) { return 0; }
int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) { int kind = a ? a->__kind : 0, k = kind & 15; __raddle_lock_init(m, (k == 1 ? 1 : k == 2 ? 2 : 0) | (kind & 16 ? 4 : 0)); return 0; }
/* Where glibc's static initialisers put the kind. */
static void __model_static(pthread_mutex_t *m) { int kind = __raddle_peek((char *)m + 16); if (__raddle_is_known(kind) && (kind == 1 || kind == 2)) __raddle_lock_static(m, kind); }
int pthread_mutex_destroy(pthread_mutex_t *m) { return __raddle_lock_destroy(m); }
int pthread_mutex_lock(pthread_mutex_t *m) { __model_static(m); int r = __raddle_lock(m); return r == 2 ? EOWNERDEAD : r ? EDEADLK : 0; }
int pthread_mutex_trylock(pthread_mutex_t *m) { __model_static(m); return __raddle_try_lock(m) ? EBUSY : 0; }
int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *at) { return __raddle_timed_lock(m) ? ETIMEDOUT : 0; }
int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t c, const struct timespec *at) { return __raddle_timed_lock(m) ? ETIMEDOUT : 0; }
int pthread_mutex_unlock(pthread_mutex_t *m) { return __raddle_unlock(m) ? EPERM : 0; }
int pthread_mutex_consistent(pthread_mutex_t *m) { return 0; }

int pthread_condattr_init(pthread_condattr_t *a) { return 0; }
int pthread_condattr_destroy(pthread_condattr_t *a) { return 0; }
int pthread_condattr_setclock(pthread_condattr_t *a, clockid_t c) { return 0; }
int pthread_condattr_setpshared(pthread_condattr_t *a, int s) { return 0; }
int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) { return 0; }
int pthread_cond_destroy(pthread_cond_t *c) { return 0; }
int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) { __raddle_wait(c, m); return 0; }
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at) { return __raddle_timed_wait(c, m) ? ETIMEDOUT : 0; }
int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t k, const struct timespec *at) { return __raddle_timed_wait(c, m) ? ETIMEDOUT : 0; }
int pthread_cond_signal(pthread_cond_t *c) { return __raddle_notify_one(c); }
int pthread_cond_broadcast(pthread_cond_t *c) { return __raddle_notify_all(c); }

int pthread_rwlockattr_init(pthread_rwlockattr_t *a) { return 0; }
int pthread_rwlockattr_destroy(pthread_rwlockattr_t *a) { return 0; }
int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *a, int s) { return 0; }
int pthread_rwlockattr_setkind_np(pthread_rwlockattr_t *a, int s) { return 0; }
int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *a) { return __raddle_lock_init(l, 0); }
int pthread_rwlock_destroy(pthread_rwlock_t *l) { return __raddle_lock_destroy(l); }
int pthread_rwlock_rdlock(pthread_rwlock_t *l) { return __raddle_read_lock(l) ? EDEADLK : 0; }
int pthread_rwlock_tryrdlock(pthread_rwlock_t *l) { return __raddle_try_read_lock(l) ? EBUSY : 0; }
int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *at) { return __raddle_timed_read_lock(l) ? ETIMEDOUT : 0; }
int pthread_rwlock_wrlock(pthread_rwlock_t *l) { return __raddle_write_lock(l) ? EDEADLK : 0; }
int pthread_rwlock_trywrlock(pthread_rwlock_t *l) { return __raddle_try_write_lock(l) ? EBUSY : 0; }
int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *at) { return __raddle_timed_write_lock(l) ? ETIMEDOUT : 0; }
int pthread_rwlock_unlock(pthread_rwlock_t *l) { return __raddle_rw_unlock(l) ? EPERM : 0; }

int pthread_spin_init(pthread_spinlock_t *l, int s) { return __raddle_lock_init(l, 0); }
int pthread_spin_destroy(pthread_spinlock_t *l) { return __raddle_lock_destroy(l); }
int pthread_spin_lock(pthread_spinlock_t *l) { return __raddle_lock(l); }
int pthread_spin_trylock(pthread_spinlock_t *l) { return __raddle_try_lock(l) ? EBUSY : 0; }
int pthread_spin_unlock(pthread_spinlock_t *l) { return __raddle_unlock(l); }

int pthread_barrierattr_init(pthread_barrierattr_t *a) { return 0; }
int pthread_barrierattr_destroy(pthread_barrierattr_t *a) { return 0; }
int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned n) { return __raddle_barrier_init(b, n); }
int pthread_barrier_destroy(pthread_barrier_t *b) { return 0; }
int pthread_barrier_wait(pthread_barrier_t *b) { return __raddle_barrier_wait(b) ? PTHREAD_BARRIER_SERIAL_THREAD : 0; }

int pthread_once(pthread_once_t *o, void (*f)(void)) { return __raddle_once(o, f); }
int pthread_key_create(pthread_key_t *k, void (*d)(void *)) { *k = __raddle_key_create(d); return 0; }
int pthread_key_delete(pthread_key_t k) { return 0; }
void *pthread_getspecific(pthread_key_t k) { return (void *)__raddle_key_get(k); }
int pthread_setspecific(pthread_key_t k, const void *v) { return __raddle_key_set(k, v); }
/* Attributes that create no order: their values are unknown. */
int pthread_attr_getguardsize(const pthread_attr_t *a, size_t *n) { *n = __raddle_unknown(); return 0; }
int pthread_attr_getinheritsched(const pthread_attr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_attr_getschedparam(const pthread_attr_t *a, struct sched_param *p) { __raddle_write(p, sizeof *p); return 0; }
int pthread_attr_getschedpolicy(const pthread_attr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_attr_getscope(const pthread_attr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_attr_getstack(const pthread_attr_t *a, void **p, size_t *n) { *p = (void *)__raddle_unknown(); *n = __raddle_unknown(); return 0; }
int pthread_attr_getstackaddr(const pthread_attr_t *a, void **p) { *p = (void *)__raddle_unknown(); return 0; }
int pthread_attr_setstack(pthread_attr_t *a, void *p, size_t n) { return 0; }
int pthread_attr_setstackaddr(pthread_attr_t *a, void *p) { return 0; }
int pthread_attr_setaffinity_np(pthread_attr_t *a, size_t n, const void *s) { return 0; }
int pthread_attr_getaffinity_np(const pthread_attr_t *a, size_t n, void *s) { __raddle_write(s, n); return 0; }
int pthread_attr_setsigmask_np(pthread_attr_t *a, const sigset_t *s) { return 0; }
int pthread_attr_getsigmask_np(const pthread_attr_t *a, sigset_t *s) { __raddle_write(s, sizeof *s); return 0; }
int pthread_getattr_np(pthread_t t, pthread_attr_t *a) { __raddle_write(a, sizeof *a); return 0; }
int pthread_getattr_default_np(pthread_attr_t *a) { __raddle_write(a, sizeof *a); return 0; }
int pthread_setattr_default_np(const pthread_attr_t *a) { return 0; }
int pthread_setschedprio(pthread_t t, int n) { return 0; }
int pthread_barrierattr_getpshared(const pthread_barrierattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_barrierattr_setpshared(pthread_barrierattr_t *a, int n) { return 0; }
int pthread_condattr_getclock(const pthread_condattr_t *a, clockid_t *n) { *n = __raddle_unknown(); return 0; }
int pthread_condattr_getpshared(const pthread_condattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_mutex_consistent_np(pthread_mutex_t *m) { return 0; }
int pthread_mutex_getprioceiling(const pthread_mutex_t *m, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_mutex_setprioceiling(pthread_mutex_t *m, int n, int *o) { if (o) *o = __raddle_unknown(); return 0; }
int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *a, int n) { return 0; }
int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_mutexattr_getpshared(const pthread_mutexattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_mutexattr_getrobust(const pthread_mutexattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_mutexattr_getrobust_np(const pthread_mutexattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_mutexattr_setrobust_np(pthread_mutexattr_t *a, int n) { return pthread_mutexattr_setrobust(a, n); }
int pthread_rwlockattr_getkind_np(const pthread_rwlockattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_rwlockattr_getpshared(const pthread_rwlockattr_t *a, int *n) { *n = __raddle_unknown(); return 0; }
int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t c, const struct timespec *t) { return __raddle_timed_read_lock(l) ? ETIMEDOUT : 0; }
int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t c, const struct timespec *t) { return __raddle_timed_write_lock(l) ? ETIMEDOUT : 0; }
