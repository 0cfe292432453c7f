/* Allocation and strings. */
void *malloc(size_t n) { return (void *)__raddle_alloc(n); }
void *calloc(size_t n, size_t size) { return (void *)__raddle_alloc_zero(n * size); }
void *realloc(void *p, size_t n) { return p ? (void *)__raddle_realloc(p, n) : (void *)__raddle_alloc(n); }
void *reallocarray(void *p, size_t n, size_t size) { return realloc(p, n * size); }
void free(void *p) { if (p) __raddle_free(p); }
void cfree(void *p) { if (p) __raddle_free(p); }
void *aligned_alloc(size_t a, size_t n) { return (void *)__raddle_alloc(n); }
void *memalign(size_t a, size_t n) { return (void *)__raddle_alloc(n); }
void *valloc(size_t n) { return (void *)__raddle_alloc(n); }
int posix_memalign(void **p, size_t a, size_t n) { *p = (void *)__raddle_alloc(n); return 0; }
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t o) { return (void *)(flags & 32 ? __raddle_alloc_zero(n) : __raddle_alloc(n)); }
int munmap(void *p, size_t n) { if (p && __raddle_block_size(p) == n) __raddle_free(p); return 0; }
size_t malloc_usable_size(void *p) { return __raddle_block_size(p); }
void *memcpy(void *d, const void *s, size_t n) { return (void *)__raddle_copy(d, s, n); }
void *mempcpy(void *d, const void *s, size_t n) { __raddle_copy(d, s, n); return (char *)d + n; }
void *memmove(void *d, const void *s, size_t n) { return (void *)__raddle_copy(d, s, n); }
void *memset(void *d, int c, size_t n) { return (void *)__raddle_fill(d, c, n); }
void bzero(void *d, size_t n) { __raddle_fill(d, 0, n); }
void explicit_bzero(void *d, size_t n) { __raddle_fill(d, 0, n); }
void bcopy(const void *s, void *d, size_t n) { __raddle_copy(d, s, n); }
int memcmp(const void *a, const void *b, size_t n) { return __raddle_compare(a, b, n); }
int bcmp(const void *a, const void *b, size_t n) { return __raddle_compare(a, b, n); }
void *memchr(const void *s, int c, size_t n) { __raddle_read(s, n); return (void *)__raddle_unknown(); }
size_t strlen(const char *s) { return __raddle_text_length(s); }
size_t strnlen(const char *s, size_t n) { size_t len = __raddle_text_length(s); return len < n ? len : n; }
int strcmp(const char *a, const char *b) { return __raddle_text_compare(a, b, 65536); }
int strncmp(const char *a, const char *b, size_t n) { return __raddle_text_compare(a, b, n); }
int strcasecmp(const char *a, const char *b) { return __raddle_text_compare(a, b, 65536); }
int strncasecmp(const char *a, const char *b, size_t n) { return __raddle_text_compare(a, b, n); }
int strcoll(const char *a, const char *b) { return __raddle_text_compare(a, b, 65536); }
char *strcpy(char *d, const char *s) { __raddle_text_copy(d, s, 65536); return d; }
char *stpcpy(char *d, const char *s) { return d + __raddle_text_copy(d, s, 65536); }
char *strncpy(char *d, const char *s, size_t n) { __raddle_text_copy(d, s, n); return d; }
size_t strlcpy(char *d, const char *s, size_t n) { return __raddle_text_copy(d, s, n); }
char *strcat(char *d, const char *s) { __raddle_text_copy(d + __raddle_text_length(d), s, 65536); return d; }
char *strncat(char *d, const char *s, size_t n) { __raddle_text_copy(d + __raddle_text_length(d), s, n + 1); return d; }
size_t strlcat(char *d, const char *s, size_t n) { return __raddle_text_copy(d + __raddle_text_length(d), s, n); }
char *strchr(const char *s, int c) { return (char *)__raddle_text_find(s, c); }
char *index(const char *s, int c) { return (char *)__raddle_text_find(s, c); }
char *strrchr(const char *s, int c) { char *last = 0, *p = (char *)__raddle_text_find(s, c); int n = 0; while (p && n < 1000) { last = p; p = (char *)__raddle_text_find(p + 1, c); n++; } return last; }
char *strstr(const char *s, const char *t) { __raddle_text_length(s); __raddle_text_length(t); return (char *)__raddle_unknown(); }
char *strpbrk(const char *s, const char *t) { __raddle_text_length(s); return (char *)__raddle_unknown(); }
size_t strspn(const char *s, const char *t) { __raddle_text_length(s); return __raddle_unknown(); }
size_t strcspn(const char *s, const char *t) { __raddle_text_length(s); return __raddle_unknown(); }
static char *__model_strtok_state;
char *strtok(char *s, const char *d) { if (s) __model_strtok_state = s; else s = __model_strtok_state; __model_strtok_state = (char *)__raddle_unknown(); return s; }
char *strtok_r(char *s, const char *d, char **state) { *state = (char *)__raddle_unknown(); return (char *)__raddle_unknown(); }
char *strsep(char **s, const char *d) { *s = (char *)__raddle_unknown(); return (char *)__raddle_unknown(); }
char *strdup(const char *s) { size_t n = __raddle_text_length(s) + 1; char *d = (char *)__raddle_alloc(n); __raddle_text_copy(d, s, n); return d; }
char *strndup(const char *s, size_t n) { char *d = (char *)__raddle_alloc(n + 1); __raddle_text_copy(d, s, n + 1); return d; }
char *strerror(int e) { return (char *)__raddle_unknown(); }
int strerror_r(int e, char *s, size_t n) { __raddle_write(s, n); return 0; }
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *)) {
  char *a = base, t[256];
  if (size > 256) { __raddle_write(base, n * size); return; }
  for (size_t i = 1; i < n; i++)
    for (size_t j = i; j > 0 && compare(a + (j - 1) * size, a + j * size) > 0; j--) {
      __raddle_copy(t, a + j * size, size); __raddle_copy(a + j * size, a + (j - 1) * size, size); __raddle_copy(a + (j - 1) * size, t, size);
    }
}
void *bsearch(const void *key, const void *base, size_t n, size_t size, int (*compare)(const void *, const void *)) {
  const char *a = base; size_t lo = 0, hi = n;
  while (lo < hi) { size_t mid = (lo + hi) / 2; int c = compare(key, a + mid * size); if (c == 0) return (void *)(a + mid * size); if (c < 0) hi = mid; else lo = mid + 1; }
  return 0;
}
