// expect: assertion
//@ bound: 1
// Appending one buffer to another: length and characters are each read under the source's lock, but not under one hold of it.
// Fails when: the appender has read length 3; the other thread shortens the source to 0; the appender copies three characters.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct buffer {
    pthread_mutex_t mu;
    int length;
    char text[8];
};
struct buffer source = {PTHREAD_MUTEX_INITIALIZER, 3, "abc"};
struct buffer target = {PTHREAD_MUTEX_INITIALIZER, 0, ""};

static int length_of(struct buffer *b) {
    pthread_mutex_lock(&b->mu);
    int length = b->length;
    pthread_mutex_unlock(&b->mu);
    return length;
}

static void copy_from(struct buffer *b, char *to, int n) {
    pthread_mutex_lock(&b->mu);
    assert(n <= b->length);                             // expect: assertion here
    memcpy(to, b->text, n);
    pthread_mutex_unlock(&b->mu);
}

void *append(void *arg) {
    pthread_mutex_lock(&target.mu);
    int n = length_of(&source);
    copy_from(&source, target.text + target.length, n);
    target.length += n;
    pthread_mutex_unlock(&target.mu);
    return arg;
}

void *truncate_source(void *arg) {
    pthread_mutex_lock(&source.mu);
    source.length = 0;
    pthread_mutex_unlock(&source.mu);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, append, 0);
    pthread_create(&b, 0, truncate_source, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
