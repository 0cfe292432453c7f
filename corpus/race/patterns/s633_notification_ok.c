// 6.3.3 done right: the flag is an atomic, stored with release and loaded with acquire. That is an arc in every mode:
// atomics are SIGNAL and WAIT events, not locks.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int done;
int result;

void *waiter(void *arg) {
    while (!atomic_load_explicit(&done, memory_order_acquire)) usleep(100);
    return (void *)(long)(result + (arg != 0));
}

void *worker(void *arg) {
    result = 42;
    atomic_store_explicit(&done, 1, memory_order_release);
    return arg;
}

int main(void) {
    for (int i = 0; i < 20; i++) {
        done = 0;
        result = 0;
        pthread_t a, b;
        void *value;
        pthread_create(&a, 0, waiter, 0);
        pthread_create(&b, 0, worker, 0);
        pthread_join(a, &value);
        pthread_join(b, 0);
        if ((long)value != 42) return 1;
    }
    return 0;
}
