/* POSIX semaphores. */
int sem_init(sem_t *s, int shared, unsigned n) { return __raddle_sem_init(s, n); }
int sem_destroy(sem_t *s) { return 0; }
int sem_wait(sem_t *s) { return __raddle_sem_wait(s); }
int sem_trywait(sem_t *s) { return __raddle_sem_try_wait(s) ? -1 : 0; }
int sem_timedwait(sem_t *s, const struct timespec *at) { return __raddle_sem_timed_wait(s) ? -1 : 0; }
int sem_clockwait(sem_t *s, clockid_t c, const struct timespec *at) { return __raddle_sem_timed_wait(s) ? -1 : 0; }
int sem_post(sem_t *s) { return __raddle_sem_post(s); }
int sem_getvalue(sem_t *s, int *n) { *n = __raddle_sem_value(s); return 0; }
sem_t *sem_open(const char *name, int flags, ...) {
  sem_t *s = (sem_t *)__raddle_alloc_zero(sizeof(sem_t));
  va_list a; va_start(a, flags); va_arg(a, int);
  if (!__raddle_is_known(flags) || flags & 64) __raddle_sem_init(s, va_arg(a, unsigned));
  return s;
}
int sem_close(sem_t *s) { return 0; }
int sem_unlink(const char *name) { return 0; }
/* System V: a number names a set, an index in it a semaphore. A semaphore that nobody initialises is
   free. */
static char __model_sets[32][64];
static char *__model_semaphore(int id, int n) { return __raddle_is_known(id) && id < 32 ? &__model_sets[id][n & 63] : (char *)((long)id << 3) + (n & 63); }
int semget(key_t key, int n, int flags) {
  int id = __raddle_is_known(key) && key != IPC_PRIVATE ? key & 31 : (int)(__raddle_alloc_zero(64) >> 3);
  for (int i = 0; i < 8; i++) if (!__raddle_sem_value(__model_semaphore(id, i))) __raddle_sem_init(__model_semaphore(id, i), 1);
  return id;
}
int semctl(int id, int n, int command, ...) {
  va_list a; va_start(a, command);
  if (command == SETVAL) return __raddle_sem_init(__model_semaphore(id, n), va_arg(a, int));
  return command == GETVAL ? __raddle_sem_value(__model_semaphore(id, n)) : 0;
}
int semop(int id, struct sembuf *ops, size_t n) {
  for (size_t i = 0; i < n && i < 8; i++) {
    char *s = __model_semaphore(id, ops[i].sem_num);
    if (ops[i].sem_op > 0) __raddle_sem_post(s);
    else if (ops[i].sem_op == 0) __raddle_yield();
    else if (ops[i].sem_flg & IPC_NOWAIT) { if (__raddle_sem_try_wait(s)) return -1; }
    else __raddle_sem_wait(s);
  }
  return 0;
}
int semtimedop(int id, struct sembuf *ops, size_t n, const struct timespec *at) { return semop(id, ops, n); }
