// Table 3, Quicksort Fixed: the two halves are apart.
#include <pthread.h>
#include <stdio.h>

#define N 24
static int array[N];

struct range { int left, right; };

static void *sort(void *arg) {
    struct range *r = arg;
    int lower = r->left, upper = r->right;
    int pivot = array[(lower + upper) / 2];
    do {
        while (array[lower] < pivot) lower++;
        while (array[upper] > pivot) upper--;
        if (lower <= upper) {
            int temp = array[lower];
            array[lower] = array[upper];
            array[upper] = temp;
            lower++;
            upper--;
        }
    } while (lower <= upper);
    struct range low = { r->left, upper }, high = { lower, r->right };
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
