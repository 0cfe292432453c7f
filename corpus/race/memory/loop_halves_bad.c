// Two threads fill parts of arrays. The parts overlap by one element: at the end of a loop,
// at one that is left early, and at one that goes downwards.
#include <pthread.h>

enum { SIZE = 100, MIDDLE = 51 };
char bytes[SIZE];
short words[SIZE];
long numbers[SIZE];

__attribute__((noinline)) static void fill_bytes(char *to, long from, long end) {
    for (long i = from; i < end; i++)
        to[i] = (char)i; // expect: data-race write write #1
}

__attribute__((noinline)) static void fill_words(short *to, long from, long stop) {
    for (long i = from; i < SIZE; i++) {
        to[i] = (short)i; // expect: data-race write write #2
        if (i == stop)
            break;
    }
}

__attribute__((noinline)) static void fill_numbers(long *to, long from, long end) {
    for (long i = end; i-- > from;)
        to[i] = i; // expect: data-race write write #3
}

static void *fill(void *upper) {
    long from = upper ? MIDDLE : 0, end = upper ? SIZE : MIDDLE + 1;
    fill_bytes(bytes, from, end);
    fill_words(words, from, end - 1);
    fill_numbers(numbers, from, end);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    // Shared before: `fast` forgets what one thread alone has touched.
    bytes[MIDDLE] = 1;
    words[MIDDLE] = 1;
    numbers[MIDDLE] = 1;
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, fill, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
