/* bench: strings and memory copies
 * full: 20000000 4
 * reduced: 3000000 3
 * quick: 100000 1
 *
 * The words of a text of SIZE bytes, counted: each thread cuts its half into words, copies each out, finds it in a table
 * of its own with strcmp, and at the end adds its counts to the common table under a mutex. */
#include "kernel.h"
#include <pthread.h>
#include <string.h>

enum { BUCKETS = 16384, VOCABULARY = 20000, LONGEST = 24 };

struct word {
    struct word *next;
    uint64_t count;
    char *text;
};

struct table {
    struct word *buckets[BUCKETS];
};

static long size, rounds;
static char *text;
static struct table total;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t hash_of(const char *word) {
    uint32_t hash = 2166136261u;
    for (; *word != '\0'; word++) hash = (hash ^ (uint8_t)*word) * 16777619u;
    return hash;
}

static void count(struct table *table, const char *word, uint64_t times) {
    struct word **link = &table->buckets[hash_of(word) % BUCKETS];
    while (*link != NULL && strcmp((*link)->text, word) != 0) link = &(*link)->next;
    if (*link == NULL) {
        size_t bytes = strlen(word) + 1;
        *link = allocate(1, sizeof **link);
        (*link)->text = allocate(bytes, 1);
        memcpy((*link)->text, word, bytes);
    }
    (*link)->count += times;
}

static void count_text(struct table *table, const char *at, const char *end) {
    char word[LONGEST + 1];
    while (at < end) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        size_t length = (size_t)((blank != NULL ? blank : end) - at);
        if (length > 0) {
            memcpy(word, at, length);
            word[length] = '\0';
            count(table, word, 1);
        }
        at += length + 1;
    }
}

static void empty_into(struct table *from, struct table *to) {
    for (int i = 0; i < BUCKETS; i++)
        for (struct word *word = from->buckets[i], *next; word != NULL; word = next) {
            next = word->next;
            if (to != NULL) count(to, word->text, word->count);
            free(word->text);
            free(word);
        }
}

static void *work(void *argument) {
    long thread = (long)argument;
    const char *first = text, *last = text + size;
    const char *cut = strchr(text + size / 2, ' ');
    if (thread == 0 && cut != NULL) last = cut;
    if (thread == 1) first = cut != NULL ? cut : last;
    for (long round = 0; round < rounds; round++) {
        struct table *own = allocate(1, sizeof *own);
        count_text(own, first, last);
        pthread_mutex_lock(&total_lock);
        empty_into(own, &total);
        pthread_mutex_unlock(&total_lock);
        free(own);
    }
    return NULL;
}

/* Words as frequent as in a language: the product of two even draws favours the low numbers. */
static void write_text(void) {
    uint64_t seed = 11;
    long at = 0;
    while (at < size) {
        uint64_t random = next_random(&seed);
        uint64_t number = (random % VOCABULARY) * ((random >> 32) % VOCABULARY) / VOCABULARY;
        uint64_t letters = number * UINT64_C(0x9e3779b97f4a7c15);
        long length = 2 + (long)(letters % 9);
        for (long i = 0; i < length && at < size; i++) text[at++] = (char)('a' + (letters >> (i * 6 + 4)) % 26);
        if (at < size) text[at++] = ' ';
    }
    text[size] = '\0';
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    text = allocate((size_t)size + 1, 1);
    write_text();

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    uint64_t hash = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (const struct word *word = total.buckets[i]; word != NULL; word = word->next)
            hash += mix(hash_of(word->text), word->count);
    empty_into(&total, NULL);
    print_checksum(hash);
    return 0;
}
