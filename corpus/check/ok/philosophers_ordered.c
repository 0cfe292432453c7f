// The forks are taken in order of their numbers: a lock hierarchy.
#include <pthread.h>

#define N 4
static pthread_mutex_t forks[N];
static int meals[N];

static void *philosopher(void *arg) {
    long i = (long)arg;
    int left = i, right = (i + 1) % N;
    if (left > right) {
        int t = left;
        left = right;
        right = t;
    }
    for (int n = 0; n < 2; n++) {
        pthread_mutex_lock(&forks[left]);
        pthread_mutex_lock(&forks[right]);
        meals[i]++;
        pthread_mutex_unlock(&forks[right]);
        pthread_mutex_unlock(&forks[left]);
    }
    return NULL;
}

int main(void) {
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&forks[i], NULL);
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, philosopher, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return meals[0];
}
