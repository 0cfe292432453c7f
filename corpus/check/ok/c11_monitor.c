// C11 mutex, condition, once and thread-specific storage.
#include <stdlib.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t slot;
static int turn, setup;

static void init(void) { setup = 1; }

static int worker(void *arg) {
    int me = (int)(long)arg;
    call_once(&once, init);
    int *mine = malloc(sizeof *mine);
    *mine = setup + me;
    tss_set(slot, mine);
    mtx_lock(&lock);
    while (turn != me)
        cnd_wait(&changed, &lock);
    turn = !me;
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    return *(int *)tss_get(slot);
}

int main(void) {
    thrd_t a, b;
    int r, s;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    tss_create(&slot, free);
    thrd_create(&a, worker, (void *)0);
    thrd_create(&b, worker, (void *)1);
    thrd_join(a, &r);
    thrd_join(b, &s);
    mtx_destroy(&lock);
    return r + s;
}
