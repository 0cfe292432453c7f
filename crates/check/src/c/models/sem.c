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
