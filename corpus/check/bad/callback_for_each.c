// Threads hand callbacks to functions that call them for each element of a queue or a file.
#include <pthread.h>
#include <stddef.h>

extern void *queue;
void queue_foreach(void *queue, void (*visit)(void *));
int parse_add_lines(const char *file, void (*line)(char *));

static int visits;
static int lines;

static void visit(void *element) {
    visits++; // expect: data-race #1
}

static void add_line(char *text) {
    lines++; // expect: data-race #2
}

static void *work(void *data) {
    queue_foreach(queue, visit);
    parse_add_lines("file", add_line);
    return data;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, NULL, work, NULL);
    pthread_create(&u, NULL, work, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
