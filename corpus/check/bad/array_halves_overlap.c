// The halves of an array overlap by one element.
#include <pthread.h>

#define N 16
static int data[N];

struct part { int from, to; };

static void *fill(void *arg) {
    struct part *p = arg;
    for (int i = p->from; i <= p->to; i++)
        data[i] = i; // expect: data-race write #1
    return NULL;
}

int main(void) {
    struct part low = { 0, N / 2 }, high = { N / 2, N - 1 };
    pthread_t a, b;
    pthread_create(&a, NULL, fill, &low);
    pthread_create(&b, NULL, fill, &high);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data[3];
}
