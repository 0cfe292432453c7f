// Streams in memory, obstacks and names of the DNS, each thread with its own. The last text of each
// thread is handed over when it has ended.
// expect: nothing
#define _GNU_SOURCE
#include <netinet/in.h>
#include <arpa/nameser.h>
#include <assert.h>
#include <obstack.h>
#include <pthread.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static void *work(void *arg) {
    static const unsigned char encoded[] = {3, 'a', 'b', 'c', 0};
    char *text = 0;
    for (int i = 0; i < 100; i++) {
        char line[16], name[64];
        size_t size;
        free(text);
        FILE *stream = open_memstream(&text, &size);
        fputs("one line\n", stream);
        fflush(stream);
        assert(size == 9 && text[8] == '\n');
        fputs("another\n", stream);
        fclose(stream);
        FILE *again = fmemopen(text, size, "r");
        assert(fgets(line, sizeof line, again) && strcmp(line, "one line\n") == 0);
        fclose(again);
        dn_expand(encoded, encoded + sizeof encoded, encoded, name, sizeof name);
        struct obstack stack;
        obstack_begin(&stack, 64);
        for (int n = 0; n < 100; n++) obstack_grow(&stack, &n, sizeof n);
        obstack_free(&stack, 0);
    }
    (void)arg;
    return text;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++) {
        void *text;
        pthread_join(threads[i], &text);
        assert(strcmp(text, "one line\nanother\n") == 0);
        free(text);
    }
    return 0;
}
