// 6.3.7 done right: a zero-width field ends the storage unit (C11 5.1.2.4 note 13, 6.7.2.1), so a and b are separate
// memory locations. Neighbouring bytes without bit fields are separate anyway. Silent in every mode.
// expect: nothing
#include <pthread.h>

struct { int a : 4; int : 0; int b : 4; char c, d; } x;

void *first(void *arg) {
    for (int i = 0; i < 1000; i++) {
        x.a ^= 1;
        x.c++;
    }
    return arg;
}

void *second(void *arg) {
    for (int i = 0; i < 1000; i++) {
        x.b ^= 1;
        x.d++;
    }
    return arg;
}

int main(void) {
    x.a = x.b = 0;
    x.c = x.d = 0;
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return x.a != 0 || x.b != 0 || x.c != x.d;
}
