// A pipe as a lock, in both ways: the one token is read and written back; a pipe of one page is filled and emptied.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 300, PAGE = 4096 };
static int token[2], page[2];
static long by_token, by_page;

static int empty(void) {
    char got[PAGE];
    for (ssize_t n = 0, more; n < PAGE; n += more)
        if ((more = read(page[0], got + n, PAGE - n)) <= 0) return 0;
    return 1;
}

static void *work(void *arg) {
    static const char full[PAGE];
    char c;
    for (int i = 0; i < ROUNDS; i++) {
        if (read(token[0], &c, 1) != 1) return 0;
        by_token++;
        if (write(token[1], &c, 1) != 1) return 0;
        if (write(page[1], full, PAGE) != PAGE) return 0;
        by_page++;
        if (!empty()) return 0;
    }
    return arg;
}

int main(void) {
    if (pipe(token) != 0 || pipe(page) != 0 || fcntl(page[1], F_SETPIPE_SZ, PAGE) != PAGE) return 1;
    if (write(token[1], "t", 1) != 1) return 1;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return by_token == THREADS * ROUNDS && by_page == by_token ? 0 : 1;
}
