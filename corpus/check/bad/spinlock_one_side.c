// A spin lock on one side only.
#include <pthread.h>

static pthread_spinlock_t spin;
static int n;

static void *with(void *arg) {
    pthread_spin_lock(&spin);
    n++; // expect: data-race write #1, data-race read #1
    pthread_spin_unlock(&spin);
    return NULL;
}

static void *without(void *arg) {
    n--; // expect: data-race write #1, data-race read #1
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, with, NULL);
    pthread_create(&b, NULL, without, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
