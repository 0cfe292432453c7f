// Table 3, Quicksort Broken: the two halves overlap.
#include <pthread.h>
#include <stdio.h>

#define N 24
static int array[N];

struct range { int left, right; };

static void *sort(void *arg) {
    struct range *r = arg;
    int lower = r->left, upper = r->right;
    int pivot = array[(lower + upper) / 2]; // expect: data-race read #1
    do {
        while (array[lower] < pivot) lower++; // expect: data-race read #1
        while (array[upper] > pivot) upper--; // expect: data-race read #1
        if (lower <= upper) {
            int temp = array[lower]; // expect: data-race read #1
            array[lower] = array[upper]; // expect: data-race read #1, data-race write #1
            array[upper] = temp; // expect: data-race write #1
            lower++;
            upper--;
        }
    } while (lower <= upper);
    struct range low = { r->left, lower }, high = { upper, r->right };
    pthread_t t, u;
    int both = 0;
    if (r->left < upper) {
        pthread_create(&t, NULL, sort, &low);
        both |= 1;
    }
    if (lower < r->right) {
        pthread_create(&u, NULL, sort, &high);
        both |= 2;
    }
    if (both & 1) pthread_join(t, NULL);
    if (both & 2) pthread_join(u, NULL);
    return NULL;
}

int main(void) {
    for (int i = 0; i < N; i++)
        array[i] = (i * 7919) % 31;
    struct range all = { 0, N - 1 };
    sort(&all);
    for (int i = 0; i < N; i++)
        printf("%d ", array[i]);
    return 0;
}
