// The program's own allocator makes itself ready with pthread_once and finds a thread's part by a key. The C library calls it before a
// new thread has begun.
// expect: nothing
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { CHUNK = 1 << 22, HEAD = 16 };
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *at, *end;

static void prepare(void) {
    pthread_key_create(&key, 0);
}

static char *take(size_t n) {
    pthread_mutex_lock(&mutex);
    if (!at || n > (size_t)(end - at)) {
        size_t size = n > CHUNK ? n : CHUNK;
        at = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        end = at + size;
    }
    char *taken = at;
    at += n;
    pthread_mutex_unlock(&mutex);
    return taken;
}

void *malloc(size_t n) {
    pthread_once(&once, prepare);
    if (!pthread_getspecific(key)) pthread_setspecific(key, &key);
    char *block = take((n + HEAD + 15) & ~(size_t)15);
    *(size_t *)block = n;
    return block + HEAD;
}

void free(void *block) {
    (void)block;
}

void *calloc(size_t n, size_t size) {
    return memset(malloc(n * size), 0, n * size);
}

void *realloc(void *old, size_t n) {
    char *block = malloc(n);
    size_t had = old ? *(size_t *)((char *)old - HEAD) : 0;
    return old ? memcpy(block, old, had < n ? had : n) : block;
}

static void *work(void *arg) {
    for (int i = 0; i < 100; i++) {
        char *block = malloc(100);
        block[0] = 1;
        free(block);
    }
    return arg;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
