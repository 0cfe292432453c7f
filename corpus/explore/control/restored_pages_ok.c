// expect: nothing
// Executions write to different pages of much memory, depending on who is first: each has to find it as it was before the
// first thread, whatever others wrote.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 64 };

static char table[PAGES][PAGE];
static char (*heap)[PAGE];
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int turn;

// The page depends on the order in which threads come here.
static void *mark(void *arg) {
    int me = *(int *)arg;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mu);
        turn = (turn * 5 + me) % PAGES;
        table[turn][turn]++;
        heap[turn][PAGE - 1 - turn]++;
        pthread_mutex_unlock(&mu);
    }
    return 0;
}

// All that is ever marked.
static int marks(void) {
    int n = 0;
    for (int i = 0; i < PAGES; i++) n += table[i][i] - 1 + 100 * (heap[i][PAGE - 1 - i] - 1);
    return n;
}

int main(void) {
    heap = malloc(sizeof table);
    memset(table, 1, sizeof table);
    memset(heap, 1, sizeof table);
    int ids[3] = {1, 2, 3};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, mark, &ids[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    assert(marks() == 606);
    free(heap);
    return 0;
}
