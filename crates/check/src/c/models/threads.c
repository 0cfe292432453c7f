/* Threads of other libraries: GLib, libuv, SDL, Windows, Grand Central Dispatch, APR. Their locks
   are recognised by name. */
struct __model_task { void *function, *a, *b; };
static void *__model_with_two(struct __model_task *t) { ((void (*)(void *, void *))t->function)(t->a, t->b); return 0; }
static unsigned long __model_start_with_two(void *f, void *a, void *b) {
  struct __model_task *t = (struct __model_task *)__raddle_alloc_zero(sizeof(struct __model_task));
  t->function = f; t->a = a; t->b = b;
  return __raddle_start(__model_with_two, t);
}
void *g_thread_new(const char *name, void *f, void *data) { return (void *)__raddle_start(f, data); }
void *g_thread_try_new(const char *name, void *f, void *data, void *e) { return (void *)__raddle_start(f, data); }
void *g_thread_create(void *f, void *data, int joinable, void *e) { return (void *)__raddle_start(f, data); }
void *g_thread_join(void *t) { return (void *)__raddle_join(t); }
void g_thread_unref(void *t) { }
/* A pool of GLib starts no task while it may have no threads, and with one thread it runs its tasks one
   after the other. Two threads may push at once. */
struct __model_pool { void *function, *data; int has_none, has_one; struct __model_pool_task *waiting, *started; };
struct __model_pool_task { struct __model_pool *pool; void *item; unsigned long thread; struct __model_pool_task *before; };
static void __model_pool_limit(struct __model_pool *p, int n) {
  int is_known = __raddle_is_known(n);
  __atomic_store_n(&p->has_none, is_known && n == 0, __ATOMIC_RELAXED);
  __atomic_store_n(&p->has_one, is_known && n == 1, __ATOMIC_RELAXED);
}
static unsigned long __model_pool_thread(struct __model_pool_task *t) {
  unsigned long thread;
  while (!(thread = __atomic_load_n(&t->thread, __ATOMIC_RELAXED))) __raddle_yield();
  return thread;
}
static void *__model_pool_work(struct __model_pool_task *t) {
  int has_one = __atomic_load_n(&t->pool->has_one, __ATOMIC_RELAXED);
  struct __model_pool_task *before = __atomic_load_n(&t->before, __ATOMIC_RELAXED);
  if (__raddle_is_known(has_one) && has_one && before) __raddle_join(__model_pool_thread(before));
  ((void (*)(void *, void *))t->pool->function)(t->item, t->pool->data);
  return 0;
}
static void __model_pool_start(struct __model_pool *p, struct __model_pool_task *t) {
  struct __model_pool_task *before = __atomic_load_n(&p->started, __ATOMIC_RELAXED);
  do __atomic_store_n(&t->before, before, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&p->started, &before, t, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  __atomic_store_n(&t->thread, __raddle_start(__model_pool_work, t), __ATOMIC_RELAXED);
}
void *g_thread_pool_new(void *f, void *data, int n, int exclusive, void *e) {
  struct __model_pool *p = (struct __model_pool *)__raddle_alloc_zero(sizeof(struct __model_pool));
  p->function = f; p->data = data; __model_pool_limit(p, n); return p;
}
void *g_thread_pool_new_full(void *f, void *data, void *free, int n, int exclusive, void *e) { return g_thread_pool_new(f, data, n, exclusive, e); }
int g_thread_pool_push(struct __model_pool *p, void *item, void *e) {
  struct __model_pool_task *t = (struct __model_pool_task *)__raddle_alloc_zero(sizeof(struct __model_pool_task));
  t->pool = p; t->item = item;
  int has_none = __atomic_load_n(&p->has_none, __ATOMIC_RELAXED);
  if (!__raddle_is_known(has_none) || !has_none) { __model_pool_start(p, t); return 1; }
  struct __model_pool_task *before = __atomic_load_n(&p->waiting, __ATOMIC_RELAXED);
  do __atomic_store_n(&t->before, before, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&p->waiting, &before, t, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  return 1;
}
int g_thread_pool_set_max_threads(struct __model_pool *p, int n, void *e) {
  __model_pool_limit(p, n);
  if (__raddle_is_known(n) && n == 0) return 1;
  struct __model_pool_task *t = __atomic_exchange_n(&p->waiting, (struct __model_pool_task *)0, __ATOMIC_ACQ_REL);
  while (t) {
    struct __model_pool_task *next = __atomic_load_n(&t->before, __ATOMIC_RELAXED);
    __model_pool_start(p, t); t = next;
  }
  return 1;
}
void g_thread_pool_free(struct __model_pool *p, int immediate, int wait) {
  if (!wait || !__raddle_is_known((unsigned long)p)) return;
  struct __model_pool_task *t;
  while ((t = __atomic_exchange_n(&p->started, (struct __model_pool_task *)0, __ATOMIC_ACQ_REL)))
    for (; t; t = __atomic_load_n(&t->before, __ATOMIC_RELAXED)) __raddle_join(__model_pool_thread(t));
}
void g_thread_pool_set_sort_function(struct __model_pool *p, void *f, void *data) { }
int g_thread_pool_get_max_threads(struct __model_pool *p) { return __raddle_unknown(); }
unsigned g_thread_pool_get_num_threads(struct __model_pool *p) { return __raddle_unknown(); }
unsigned g_thread_pool_unprocessed(struct __model_pool *p) { return __raddle_unknown(); }
int g_thread_pool_move_to_front(struct __model_pool *p, void *item) { return __raddle_unknown(); }
void g_cond_wait(void *c, void *m) { __raddle_wait(c, m); }
int g_cond_wait_until(void *c, void *m, long at) { return !__raddle_timed_wait(c, m); }
void g_cond_signal(void *c) { __raddle_notify_one(c); }
void g_cond_broadcast(void *c) { __raddle_notify_all(c); }
int uv_thread_create(unsigned long *t, void *f, void *arg) { *t = __raddle_start(f, arg); return 0; }
int uv_thread_create_ex(unsigned long *t, const void *o, void *f, void *arg) { *t = __raddle_start(f, arg); return 0; }
int uv_thread_join(unsigned long *t) { __raddle_join(*t); return 0; }
int uv_queue_work(void *loop, void *req, void *work, void *after) { __raddle_start(work, req); return 0; }
void uv_cond_wait(void *c, void *m) { __raddle_wait(c, m); }
int uv_cond_timedwait(void *c, void *m, unsigned long t) { return __raddle_timed_wait(c, m) ? -ETIMEDOUT : 0; }
void uv_cond_signal(void *c) { __raddle_notify_one(c); }
void uv_cond_broadcast(void *c) { __raddle_notify_all(c); }
void *SDL_CreateThread(void *f, const char *name, void *data) { return (void *)__raddle_start(f, data); }
void SDL_WaitThread(void *t, int *status) { int r = (int)__raddle_join(t); if (status) *status = r; }
void SDL_DetachThread(void *t) { }
int SDL_CondWait(void *c, void *m) { __raddle_wait(c, m); return 0; }
int SDL_CondWaitTimeout(void *c, void *m, unsigned t) { return __raddle_timed_wait(c, m); }
int SDL_CondSignal(void *c) { return __raddle_notify_one(c); }
int SDL_CondBroadcast(void *c) { return __raddle_notify_all(c); }
void *CreateThread(void *a, unsigned long stack, void *f, void *arg, unsigned long flags, unsigned *id) { return (void *)__raddle_start(f, arg); }
unsigned long _beginthreadex(void *a, unsigned stack, void *f, void *arg, unsigned flags, unsigned *id) { return __raddle_start(f, arg); }
unsigned long _beginthread(void *f, unsigned stack, void *arg) { return __raddle_start(f, arg); }
unsigned WaitForSingleObject(void *h, unsigned ms) { __raddle_join(h); return 0; }
unsigned WaitForMultipleObjects(unsigned n, void *const *h, int all, unsigned ms) { for (unsigned i = 0; i < n; i++) __raddle_join(h[i]); return 0; }
int SleepConditionVariableCS(void *c, void *m, unsigned ms) { __raddle_wait(c, m); return 1; }
int SleepConditionVariableSRW(void *c, void *m, unsigned ms, unsigned f) { __raddle_wait(c, m); return 1; }
void WakeConditionVariable(void *c) { __raddle_notify_one(c); }
void WakeAllConditionVariable(void *c) { __raddle_notify_all(c); }
void dispatch_async_f(void *q, void *arg, void *f) { __raddle_start(f, arg); }
void dispatch_sync_f(void *q, void *arg, void (*f)(void *)) { f(arg); }
int apr_thread_create(void **t, void *a, void *f, void *data, void *pool) { *t = (void *)__model_start_with_two(f, 0, data); return 0; }
int apr_thread_join(int *status, void *t) { __raddle_join(t); if (status) *status = 0; return 0; }
