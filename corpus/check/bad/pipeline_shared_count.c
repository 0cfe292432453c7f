// Both stages of a pipeline count in the same place.
#include <pthread.h>

#define N 6
struct stage { int item; int full; pthread_mutex_t lock; pthread_cond_t changed; };
static struct stage first = { 0, 0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER };
static struct stage second = { 0, 0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER };
static int handled;

static void put(struct stage *s, int x) {
    pthread_mutex_lock(&s->lock);
    while (s->full)
        pthread_cond_wait(&s->changed, &s->lock);
    s->item = x;
    s->full = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static int take(struct stage *s) {
    pthread_mutex_lock(&s->lock);
    while (!s->full)
        pthread_cond_wait(&s->changed, &s->lock);
    int x = s->item;
    s->full = 0;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return x;
}

static void *doubler(void *arg) {
    for (int i = 0; i < N; i++) {
        put(&second, take(&first) * 2);
        handled++; // expect: data-race write #1, data-race read #1
    }
    return NULL;
}

static void *adder(void *arg) {
    long sum = 0;
    for (int i = 0; i < N; i++) {
        sum += take(&second);
        handled++; // expect: data-race write #1, data-race read #1
    }
    return (void *)sum;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, doubler, NULL);
    pthread_create(&b, NULL, adder, NULL);
    for (int i = 0; i < N; i++)
        put(&first, i);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return handled;
}
