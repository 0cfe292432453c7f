// Touches 400 MB, stays for a while, then races.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

volatile int late;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *bump(void *unused) {
    // Often, because two threads at the very same moment can hide from each other.
    for (int i = 0; i < 100; i++) late++;
    return unused;
}

int main(void) {
    size_t size = 400 << 20;
    char *block = malloc(size);
    for (size_t i = 0; i < size; i += 64) block[i] = 1;
    // The driver looks every tenth of a second; the runtime sees its wish when it has something to do.
    for (int i = 0; i < 40; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        usleep(20000);
    }
    pthread_t a, b;
    pthread_create(&a, 0, bump, 0);
    pthread_create(&b, 0, bump, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return block[64] - 1;
}
