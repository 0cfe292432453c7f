/* Input and output. Strings are read, buffers get unknown contents, results are unknown. Streams
   lock themselves. */
static FILE __model_files[3];
FILE *stdin = &__model_files[0], *stdout = &__model_files[1], *stderr = &__model_files[2];
int printf(const char *f, ...) { va_list a; va_start(a, f); __raddle_read_format(f, a->next); return __raddle_unknown(); }
int fprintf(FILE *s, const char *f, ...) { va_list a; va_start(a, f); __raddle_read_format(f, a->next); return __raddle_unknown(); }
int dprintf(int fd, const char *f, ...) { va_list a; va_start(a, f); __raddle_read_format(f, a->next); return __raddle_unknown(); }
int sprintf(char *d, const char *f, ...) { va_list a; va_start(a, f); __raddle_read_format(f, a->next); __raddle_write(d, 1); return __raddle_unknown(); }
int snprintf(char *d, size_t n, const char *f, ...) { va_list a; va_start(a, f); __raddle_read_format(f, a->next); if (n) __raddle_write(d, n < 16 ? n : 16); return __raddle_unknown(); }
int asprintf(char **d, const char *f, ...) { va_list a; va_start(a, f); __raddle_read_format(f, a->next); *d = (char *)__raddle_alloc(64); return __raddle_unknown(); }
int vprintf(const char *f, va_list a) { __raddle_read_format(f, a->next); return __raddle_unknown(); }
int vfprintf(FILE *s, const char *f, va_list a) { __raddle_read_format(f, a->next); return __raddle_unknown(); }
int vsprintf(char *d, const char *f, va_list a) { __raddle_read_format(f, a->next); __raddle_write(d, 1); return __raddle_unknown(); }
int vsnprintf(char *d, size_t n, const char *f, va_list a) { __raddle_read_format(f, a->next); if (n) __raddle_write(d, n < 16 ? n : 16); return __raddle_unknown(); }
int vasprintf(char **d, const char *f, va_list a) { *d = (char *)__raddle_alloc(64); return __raddle_unknown(); }
void syslog(int p, const char *f, ...) { va_list a; va_start(a, f); __raddle_read_format(f, a->next); }
void perror(const char *s) { if (s) __raddle_text_length(s); }
int puts(const char *s) { __raddle_text_length(s); return 1; }
int fputs(const char *s, FILE *f) { __raddle_text_length(s); return 1; }
int putchar(int c) { return c; }
int putc(int c, FILE *f) { return c; }
int fputc(int c, FILE *f) { return c; }
int getchar(void) { return __raddle_unknown(); }
int getc(FILE *f) { return __raddle_unknown(); }
int fgetc(FILE *f) { return __raddle_unknown(); }
int ungetc(int c, FILE *f) { return c; }
char *fgets(char *d, int n, FILE *f) { __raddle_write(d, n); return __raddle_unknown() ? d : 0; }
ssize_t getline(char **d, size_t *n, FILE *f) { if (!*d) { *d = (char *)__raddle_alloc(120); *n = 120; } return __raddle_unknown(); }
/* Each conversion writes what its argument points to. */
static int __model_scan(const char *f, va_list a) {
  if (!__raddle_is_known(f)) return __raddle_unknown();
  for (; *f; f++) {
    if (*f != '%') continue;
    int size = 4, skip = 0;
    f++;
    if (*f == '%') continue;
    if (*f == '*') { skip = 1; f++; }
    while (*f >= '0' && *f <= '9') f++;
    while (*f == 'l' || *f == 'h' || *f == 'z' || *f == 'j' || *f == 't' || *f == 'L') { size = *f == 'h' ? size / 2 : 8; f++; }
    if (*f == 's' || *f == 'c') size = 1;
    if (*f == '[') { size = 1; f++; if (*f == '^') f++; if (*f == ']') f++; while (*f && *f != ']') f++; }
    if (!*f) break;
    if (!skip) __raddle_write(va_arg(a, void *), size);
  }
  return __raddle_unknown();
}
int scanf(const char *f, ...) { va_list a; va_start(a, f); return __model_scan(f, a); }
int fscanf(FILE *s, const char *f, ...) { va_list a; va_start(a, f); return __model_scan(f, a); }
int sscanf(const char *s, const char *f, ...) { va_list a; va_start(a, f); __raddle_text_length(s); return __model_scan(f, a); }
int vscanf(const char *f, va_list a) { return __model_scan(f, a); }
int vfscanf(FILE *s, const char *f, va_list a) { return __model_scan(f, a); }
int vsscanf(const char *s, const char *f, va_list a) { __raddle_text_length(s); return __model_scan(f, a); }
size_t fread(void *d, size_t size, size_t n, FILE *f) { __raddle_write(d, size * n); return __raddle_unknown(); }
size_t fwrite(const void *s, size_t size, size_t n, FILE *f) { __raddle_read(s, size * n); return n; }
FILE *fopen(const char *p, const char *m) { __raddle_text_length(p); return (FILE *)__raddle_unknown(); }
FILE *fdopen(int fd, const char *m) { return (FILE *)__raddle_unknown(); }
FILE *freopen(const char *p, const char *m, FILE *f) { return f; }
FILE *tmpfile(void) { return (FILE *)__raddle_unknown(); }
int fclose(FILE *f) { return 0; }
int fflush(FILE *f) { return 0; }
int feof(FILE *f) { return __raddle_unknown(); }
int ferror(FILE *f) { return __raddle_unknown(); }
void clearerr(FILE *f) { }
int fileno(FILE *f) { return __raddle_unknown(); }
int fseek(FILE *f, long o, int w) { return 0; }
long ftell(FILE *f) { return __raddle_unknown(); }
void rewind(FILE *f) { }
int setvbuf(FILE *f, char *b, int m, size_t n) { return 0; }
void setbuf(FILE *f, char *b) { }
void flockfile(FILE *f) { __raddle_lock(f); }
void funlockfile(FILE *f) { __raddle_unlock(f); }
int ftrylockfile(FILE *f) { return __raddle_try_lock(f); }
int remove(const char *p) { return 0; }
int rename(const char *a, const char *b) { return 0; }
/* Writing to a pipe happens before the read that waits for it; a pipe that holds one byte is a lock.
   A pipe has two consecutive numbers. All pipes of unknown number share one channel, on which nobody
   waits. */
enum { __MODEL_FIRST = 1000, __MODEL_PIPES = 64, __MODEL_SOCKETS = 2000 };
static int __model_pipes, __model_sockets, __model_bytes[3 * __MODEL_PIPES + 1];
static int __model_is_socket(int fd) { return fd >= __MODEL_SOCKETS && fd < __MODEL_SOCKETS + 2 * __MODEL_PIPES; }
static int __model_is_pipe(int fd) { return __raddle_is_known(fd) && (__model_is_socket(fd) || fd >= __MODEL_FIRST && fd < __MODEL_FIRST + 2 * __MODEL_PIPES); }
/* Each of a pair of sockets reads what the other one writes. */
static int *__model_channel(int fd, int writes) {
  if (__model_is_socket(fd)) return &__model_bytes[__MODEL_PIPES + 1 + ((fd - __MODEL_SOCKETS) ^ writes)];
  return &__model_bytes[(fd - __MODEL_FIRST) / 2];
}
static int __model_new_pipe(int *fd) {
  int n = __atomic_fetch_add(&__model_pipes, 1, __ATOMIC_RELAXED);
  if (n >= __MODEL_PIPES) { fd[0] = __raddle_unknown(); fd[1] = __raddle_unknown(); return 0; }
  fd[0] = __MODEL_FIRST + 2 * n; fd[1] = fd[0] + 1; return 0;
}
static void __model_sent(int fd, size_t n) {
  if (__raddle_is_known(fd) && !__model_is_pipe(fd)) return;
  int *at = __model_is_pipe(fd) ? __model_channel(fd, 1) : &__model_bytes[__MODEL_PIPES];
  __atomic_fetch_add(at, __raddle_is_known(n) && n < 65536 ? n : 1, __ATOMIC_ACQ_REL);
}
static ssize_t __model_received(int fd, size_t n) {
  if (__raddle_is_known(fd) && !__model_is_pipe(fd)) return __raddle_unknown();
  if (!__model_is_pipe(fd)) { __atomic_load_n(&__model_bytes[__MODEL_PIPES], __ATOMIC_ACQUIRE); return __raddle_unknown(); }
  int *at = __model_channel(fd, 0);
  for (int tries = 0; tries < 40; tries++) {
    int have = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    int take = __raddle_is_known(n) && n < have ? n : have;
    if (have > 0 && __atomic_compare_exchange_n(at, &have, have - take, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return take;
    __raddle_sleep();
  }
  errno = EAGAIN;
  return -1;
}
ssize_t read(int fd, void *d, size_t n) { ssize_t r = __model_received(fd, n); __raddle_write(d, n); return r; }
ssize_t pread(int fd, void *d, size_t n, off_t o) { __raddle_write(d, n); return __raddle_unknown(); }
ssize_t recv(int fd, void *d, size_t n, int f) { ssize_t r = __model_received(fd, n); __raddle_write(d, n); return r; }
ssize_t write(int fd, const void *s, size_t n) { __raddle_read(s, n); __model_sent(fd, n); return __model_is_pipe(fd) ? n : __raddle_unknown(); }
ssize_t pwrite(int fd, const void *s, size_t n, off_t o) { __raddle_read(s, n); return __raddle_unknown(); }
ssize_t send(int fd, const void *s, size_t n, int f) { __raddle_read(s, n); __model_sent(fd, n); return __model_is_pipe(fd) ? n : __raddle_unknown(); }
int open(const char *p, int f, ...) { __raddle_text_length(p); return __raddle_unknown(); }
int close(int fd) { return 0; }
int pipe(int *fd) { return __model_new_pipe(fd); }
int pipe2(int *fd, int f) { return __model_new_pipe(fd); }
int socketpair(int d, int t, int p, int *fd) {
  int n = __atomic_fetch_add(&__model_sockets, 2, __ATOMIC_RELAXED);
  if (n >= 2 * __MODEL_PIPES) { fd[0] = __raddle_unknown(); fd[1] = __raddle_unknown(); return 0; }
  fd[0] = __MODEL_SOCKETS + n; fd[1] = fd[0] + 1; return 0;
}
/* A counter that is read and written by one number. */
int eventfd(unsigned n, int f) { int fd[2]; __model_new_pipe(fd); if (n) __model_sent(fd[0], 8); return fd[0]; }
int eventfd_write(int fd, unsigned long n) { __model_sent(fd, 8); return 0; }
int eventfd_read(int fd, unsigned long *n) { ssize_t r = __model_received(fd, 65536); *n = __raddle_unknown(); return r < 0 ? -1 : 0; }
ssize_t sendto(int fd, const void *s, size_t n, int f, const void *a, unsigned l) { return send(fd, s, n, f); }
ssize_t recvfrom(int fd, void *d, size_t n, int f, void *a, unsigned *l) { if (a) __raddle_havoc(a, 16); return recv(fd, d, n, f); }
