// expect: nothing
// The writer waits for the lock, and new readers wait behind it: it gets in.
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int readers, writer_waits, value;

void *reader(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mu);
        while (writer_waits) pthread_cond_wait(&changed, &mu);
        readers++;
        pthread_mutex_unlock(&mu);
        pthread_mutex_lock(&mu);
        if (--readers == 0) pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mu);
    }
    return arg;
}

void *writer(void *arg) {
    pthread_mutex_lock(&mu);
    writer_waits = 1;
    while (readers) pthread_cond_wait(&changed, &mu);
    value = 1;
    writer_waits = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    pthread_t a, b, w;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_create(&w, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(w, 0);
    return value != 1;
}
