// Readers together, writers alone.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int table[4];

static void *reader(void *arg) {
    long sum = 0;
    for (int i = 0; i < 4; i++) {
        pthread_rwlock_rdlock(&lock);
        sum += table[i];
        pthread_rwlock_unlock(&lock);
    }
    return (void *)sum;
}

static void *writer(void *arg) {
    for (int i = 0; i < 4; i++) {
        pthread_rwlock_wrlock(&lock);
        table[i] = i;
        table[0]++;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, i % 2 ? reader : writer, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    pthread_rwlock_destroy(&lock);
    return 0;
}
