// expect: crash
//@ bound: 1
// A divisor is tested and then used, while another thread makes it 0: SIGFPE.
// Fails when: the divider has seen 2; the other sets 0; the divider reads again.
#include <pthread.h>
#include <stdatomic.h>

atomic_int parts = 2;
int share;

void *divider(void *arg) {
    if (atomic_load(&parts) != 0) share = 10 / atomic_load(&parts); // expect: crash here
    return arg;
}

void *resetter(void *arg) {
    atomic_store(&parts, 0);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, divider, 0);
    pthread_create(&b, 0, resetter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return share != 0 && share != 5;
}
