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
void *g_thread_pool_new(void *f, void *data, int n, int exclusive, void *e) {
  struct __model_task *p = (struct __model_task *)__raddle_alloc_zero(sizeof(struct __model_task));
  p->function = f; p->b = data; return p;
}
int g_thread_pool_push(struct __model_task *p, void *data, void *e) { __model_start_with_two(p->function, data, p->b); return 1; }
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
