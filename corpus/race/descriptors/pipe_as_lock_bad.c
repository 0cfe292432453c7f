// Pipes that are no locks: one with two tokens, and one with room for two pages.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { PAGE = 4096 };
static int token[2], page[2];
long by_token, by_page;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing
static char full[PAGE];

static void *first(void *arg) {
    char c, got[PAGE];
    if (write(page[1], full, PAGE) != PAGE) return 0;
    by_page++;                                          // expect: data-race #1
    if (read(page[0], got, PAGE) != PAGE) return 0;
    if (read(token[0], &c, 1) != 1) return 0;
    by_token++;                                         // expect: data-race #2
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    while (atomic_load_explicit(&step, memory_order_relaxed) < 2) usleep(100);
    return write(token[1], &c, 1) == 1 ? arg : 0;
}

static void *second(void *arg) {
    char c, got[PAGE];
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    if (write(page[1], full, PAGE) != PAGE) return 0;
    by_page++;                                          // expect: data-race #1
    if (read(page[0], got, PAGE) != PAGE) return 0;
    if (read(token[0], &c, 1) != 1) return 0;
    by_token++;                                         // expect: data-race #2
    atomic_store_explicit(&step, 2, memory_order_relaxed);
    return arg;
}

int main(void) {
    by_token = by_page = 0; // shared before: `fast` forgets what one thread alone has touched
    if (pipe(token) != 0 || pipe(page) != 0 || fcntl(page[1], F_SETPIPE_SZ, 2 * PAGE) != 2 * PAGE) return 1;
    if (write(token[1], "tt", 2) != 2) return 1;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
