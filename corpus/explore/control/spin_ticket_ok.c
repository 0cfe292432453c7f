// expect: nothing
// A ticket lock whose waiters spin without a pause.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int next, serving;
static int n;

static void *adds(void *arg) {
    int mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine) {
    }
    n++;
    atomic_fetch_add(&serving, 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
