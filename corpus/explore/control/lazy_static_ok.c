// expect: nothing
// A table that is built on first use, with locks of its own: the first run of a schedule makes more steps than the next would if
// the process were reused. Priming, or restoring memory, makes them the same.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER, table_mu = PTHREAD_MUTEX_INITIALIZER;

static int square(int n) {
    static int table[4], built;
    pthread_mutex_lock(&mu);
    if (!built) {
        for (int i = 0; i < 4; i++) {
            pthread_mutex_lock(&table_mu);
            table[i] = i * i;
            pthread_mutex_unlock(&table_mu);
        }
        built = 1;
    }
    int result = table[n];
    pthread_mutex_unlock(&mu);
    return result;
}

void *user(void *arg) {
    assert(square(3) == 9);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
