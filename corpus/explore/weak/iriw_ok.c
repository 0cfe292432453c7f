// expect(sc c11): nothing
// Independent reads of independent writes, seq_cst: all readers see the writes in one order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int first[2], second[2];
#define STORE memory_order_seq_cst
#define LOAD memory_order_seq_cst

void *write_x(void *arg) {
    atomic_store_explicit(&x, 1, STORE);
    return arg;
}

void *write_y(void *arg) {
    atomic_store_explicit(&y, 1, STORE);
    return arg;
}

void *read_x_y(void *arg) {
    first[0] = atomic_load_explicit(&x, LOAD);
    first[1] = atomic_load_explicit(&y, LOAD);
    return arg;
}

void *read_y_x(void *arg) {
    second[0] = atomic_load_explicit(&y, LOAD);
    second[1] = atomic_load_explicit(&x, LOAD);
    return arg;
}

int main(void) {
    pthread_t t[4];
    void *(*body[4])(void *) = {write_x, write_y, read_x_y, read_y_x};
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, body[i], 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    int x_first = first[0] == 1 && first[1] == 0, y_first = second[0] == 1 && second[1] == 0;
    assert(!(x_first && y_first));
    return 0;
}
