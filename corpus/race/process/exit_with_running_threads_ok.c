// main returns while other threads are in full swing, holding locks and allocating. The process ends at once and cleanly;
// silent in every mode.
// expect: nothing
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
long count;

void *work(void *arg) {
    for (;;) {
        char *p = malloc(64);
        pthread_mutex_lock(&mu);
        count++;
        p[0] = 1;
        pthread_mutex_unlock(&mu);
        free(p);
    }
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    usleep(30000);
    return 0;
}
