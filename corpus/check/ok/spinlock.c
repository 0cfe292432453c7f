// A spin lock on both sides.
#include <pthread.h>

static pthread_spinlock_t spin;
static int n;

static void *worker(void *arg) {
    for (int i = 0; i < 5; i++) {
        pthread_spin_lock(&spin);
        n++;
        pthread_spin_unlock(&spin);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_spin_destroy(&spin);
    return n;
}
