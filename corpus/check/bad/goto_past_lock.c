// One path jumps past the lock but not past the write.
#include <pthread.h>

static int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void set(int v, int fast) {
    if (fast)
        goto write;
    pthread_mutex_lock(&lock);
write:
    value = v; // expect: data-race write #1
    if (!fast)
        pthread_mutex_unlock(&lock);
}

static void *slow_setter(void *arg) { set(1, 0); return NULL; }
static void *fast_setter(void *arg) { set(2, 1); return NULL; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, slow_setter, NULL);
    pthread_create(&b, NULL, fast_setter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
