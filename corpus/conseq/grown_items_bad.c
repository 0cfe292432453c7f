// expect: use-after-free
// realloc moves a block whose old address a reader still has.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int *items;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *grow(void *arg) {
    pthread_mutex_lock(&lock);
    items = realloc(items, 4096 * sizeof *items);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *look(void *arg) {
    pthread_mutex_lock(&lock);
    int *mine = items;
    pthread_mutex_unlock(&lock);
    assert(mine[0] == 7);
    return arg;
}

int main(void) {
    items = malloc(sizeof *items);
    items[0] = 7;
    pthread_t a, b;
    pthread_create(&a, 0, look, 0);
    pthread_create(&b, 0, grow, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(items);
    return 0;
}
