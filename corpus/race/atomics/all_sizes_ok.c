// Every read-modify-write operation at 1, 2, 4 and 8 bytes does what it says under the detector: values are checked. Also the
// test-and-set flag and the failing side of compare-exchange.
// expect: nothing
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { T = 3, N = 200 };
#define EACH(V) V(unsigned char, b) V(unsigned short, h) V(unsigned int, w) V(unsigned long, l)
#define DECLARE(type, name) _Atomic type name##_add, name##_sub, name##_bits, name##_xor, name##_cas;
EACH(DECLARE)
atomic_flag flag = ATOMIC_FLAG_INIT;
long under_flag;

#define WORK(type, name)                                                                                       \
    atomic_fetch_add_explicit(&name##_add, 1, memory_order_relaxed);                                           \
    atomic_fetch_sub_explicit(&name##_sub, 1, memory_order_acq_rel);                                           \
    atomic_fetch_or(&name##_bits, (type)(1 << me));                                                            \
    atomic_fetch_and(&name##_bits, (type)~(1 << (me + 4)));                                                    \
    atomic_fetch_xor(&name##_xor, (type)(1 << me));                                                            \
    for (type old = 0; !atomic_compare_exchange_weak(&name##_cas, &old, (type)(old + 1));) {}

#define CHECK(type, name)                                                                                      \
    if (name##_add != (type)(T * N) || name##_sub != (type) - (T * N) || name##_bits != 7 || name##_xor != 0 || \
        name##_cas != (type)(T * N)) abort();

void *work(void *arg) {
    int me = (int)(long)arg;
    for (int i = 0; i < N; i++) {
        EACH(WORK)
        while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire)) {}
        under_flag++;
        atomic_flag_clear_explicit(&flag, memory_order_release);
    }
    return 0;
}

int main(void) {
    pthread_t t[T];
    for (long i = 0; i < T; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < T; i++) pthread_join(t[i], 0);
    EACH(CHECK)
    return under_flag != T * N;
}
