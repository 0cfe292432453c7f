// C11 threads: thrd_create and join, mtx plain, recursive, timed and try, cnd wait, timedwait and broadcast, call_once, tss with
// destructors. The same rules as for pthreads; silent in every mode.
//@ flags: -O1 -std=c11
// expect: nothing
#include <stdlib.h>
#include <threads.h>
#include <time.h>

mtx_t plain, recursive, timed;
cnd_t cnd;
tss_t key;
once_flag once = ONCE_FLAG_INIT;
long counts[3], arrived, table;
enum { N = 3, ROUNDS = 300 };

static void init(void) { table = 42; }
static void drop(void *p) { free(p); }

int work(void *arg) {
    long *mine = malloc(sizeof *mine);
    *mine = 0;
    tss_set(key, mine);
    for (int i = 0; i < ROUNDS; i++) {
        call_once(&once, init);
        if (table != 42) abort();
        if (i % 2) mtx_lock(&plain);
        else while (mtx_trylock(&plain) != thrd_success) thrd_yield();
        counts[0]++;
        mtx_unlock(&plain);
        mtx_lock(&recursive);
        mtx_lock(&recursive);
        counts[1]++;
        mtx_unlock(&recursive);
        mtx_unlock(&recursive);
        struct timespec until;
        timespec_get(&until, TIME_UTC);
        until.tv_sec += 10;
        if (mtx_timedlock(&timed, &until) != thrd_success) abort();
        counts[2]++;
        mtx_unlock(&timed);
        ++*(long *)tss_get(key);
    }
    mtx_lock(&plain);
    if (++arrived == N) cnd_broadcast(&cnd);
    while (arrived < N) cnd_wait(&cnd, &plain);
    mtx_unlock(&plain);
    if (*mine != ROUNDS) abort();
    return arg != 0;
}

int main(void) {
    mtx_init(&plain, mtx_plain);
    mtx_init(&recursive, mtx_plain | mtx_recursive);
    mtx_init(&timed, mtx_timed);
    cnd_init(&cnd);
    tss_create(&key, drop);
    thrd_t t[N];
    for (int i = 0; i < N; i++) thrd_create(&t[i], work, 0);
    for (int i = 0; i < N; i++) thrd_join(t[i], 0);
    return counts[0] != N * ROUNDS || counts[1] != counts[0] || counts[2] != counts[0];
}
