// One thread alone takes two locks in both orders: it cannot deadlock with itself. Another thread uses each lock singly. Silent in
// every mode.
// expect: nothing
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
long in_a, in_b;

void *both_orders(void *arg) {
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(i % 2 ? &a : &b);
        pthread_mutex_lock(i % 2 ? &b : &a);
        in_a++, in_b++;
        pthread_mutex_unlock(&a);
        pthread_mutex_unlock(&b);
    }
    return arg;
}

void *singly(void *arg) {
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&a);
        in_a++;
        pthread_mutex_unlock(&a);
        pthread_mutex_lock(&b);
        in_b++;
        pthread_mutex_unlock(&b);
    }
    return arg;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, both_orders, 0);
    pthread_create(&t[1], 0, singly, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return in_a != 1000 || in_b != 1000;
}
