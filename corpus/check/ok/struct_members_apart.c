// Each thread has its own member: neighbours in memory, but no race.
#include <pthread.h>

struct pair { char first; char second; short third; };
static struct pair pair;

static void *left(void *arg) {
    for (int i = 0; i < 20; i++) pair.first++;
    return NULL;
}

static void *right(void *arg) {
    for (int i = 0; i < 20; i++) { pair.second++; pair.third += 2; }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
