// A case that was taken says what the value is, and so does the default.
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int g;
extern int opt(void);

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    g++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    int k = opt();
    switch (k) {
    case 1:
    case 2: pthread_mutex_lock(&m);
    }
    if (k == 2) g++;
    if (k == 1 || k == 2) pthread_mutex_unlock(&m);
    int d = opt();
    switch (d) {
    case 3:
    case 4: break;
    default: pthread_mutex_lock(&m);
    }
    if (d == 5) g++;
    if (d != 3 && d != 4) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
