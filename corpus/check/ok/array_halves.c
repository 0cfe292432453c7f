// The halves of an array are apart; sums are returned through the joins.
#include <pthread.h>

#define N 16
static int data[N];

struct part { int from, to; };

static void *fill(void *arg) {
    struct part *p = arg;
    long sum = 0;
    for (int i = p->from; i < p->to; i++) {
        data[i] = i;
        sum += data[i];
    }
    return (void *)sum;
}

int main(void) {
    struct part low = { 0, N / 2 }, high = { N / 2, N };
    pthread_t a, b;
    void *x, *y;
    pthread_create(&a, NULL, fill, &low);
    pthread_create(&b, NULL, fill, &high);
    pthread_join(a, &x);
    pthread_join(b, &y);
    return (long)x + (long)y == 120 ? 0 : data[0];
}
