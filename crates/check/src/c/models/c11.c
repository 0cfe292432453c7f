/* C11 threads. */
int thrd_create(thrd_t *t, thrd_start_t f, void *arg) { *t = __raddle_start(f, arg); return thrd_success; }
int thrd_join(thrd_t t, int *result) { int r = (int)__raddle_join(t); if (result) *result = r; return thrd_success; }
int thrd_detach(thrd_t t) { return __raddle_detach(t); }
void thrd_exit(int result) { __raddle_exit_thread(result); }
thrd_t thrd_current(void) { return __raddle_current(); }
int thrd_equal(thrd_t a, thrd_t b) { return a == b; }
void thrd_yield(void) { __raddle_yield(); }
int thrd_sleep(const struct timespec *d, struct timespec *left) { return __raddle_sleep(); }
int mtx_init(mtx_t *m, int kind) { return __raddle_lock_init(m, kind & mtx_recursive ? 1 : 0); }
void mtx_destroy(mtx_t *m) { __raddle_lock_destroy(m); }
int mtx_lock(mtx_t *m) { return __raddle_lock(m) ? thrd_error : thrd_success; }
int mtx_trylock(mtx_t *m) { return __raddle_try_lock(m) ? thrd_busy : thrd_success; }
int mtx_timedlock(mtx_t *m, const struct timespec *at) { return __raddle_timed_lock(m) ? thrd_timedout : thrd_success; }
int mtx_unlock(mtx_t *m) { return __raddle_unlock(m) ? thrd_error : thrd_success; }
int cnd_init(cnd_t *c) { return thrd_success; }
void cnd_destroy(cnd_t *c) { }
int cnd_wait(cnd_t *c, mtx_t *m) { __raddle_wait(c, m); return thrd_success; }
int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *at) { return __raddle_timed_wait(c, m) ? thrd_timedout : thrd_success; }
int cnd_signal(cnd_t *c) { return __raddle_notify_one(c); }
int cnd_broadcast(cnd_t *c) { return __raddle_notify_all(c); }
void call_once(once_flag *o, void (*f)(void)) { __raddle_once(o, f); }
int tss_create(tss_t *k, tss_dtor_t d) { *k = __raddle_key_create(d); return thrd_success; }
void tss_delete(tss_t k) { }
void *tss_get(tss_t k) { return (void *)__raddle_key_get(k); }
int tss_set(tss_t k, void *v) { return __raddle_key_set(k, v); }
/* Orders a thread and its own handlers, not two threads. */
void atomic_signal_fence(memory_order o) { }
void __atomic_signal_fence(int o) { }
