// Threads hand a callback to a library that calls it at once for each element.
#include <pthread.h>
#include <stddef.h>

struct list;
extern struct list *list;
void list_foreach(struct list *list, void (*function)(void *));

static unsigned elements;

static void called(void *data) {
    elements += 1; // expect: data-race #1
}

static void *work(void *data) {
    list_foreach(list, called);
    return data;
}

void run(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
