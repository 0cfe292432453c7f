// `reserve` leaves the page locked, and `commit` gives the lock back.
#include <pthread.h>

struct page {
    pthread_mutex_t lock;
    long used;
    long hits;
};

static struct page pages[8];

int reserve(int i) {
    pthread_mutex_lock(&pages[i].lock);
    if (pages[i].used < 100)
        return 0;
    pthread_mutex_unlock(&pages[i].lock);
    return -1;
}

void commit(int i, int n) {
    struct page *p = &pages[i];
    p->used += n;
    pthread_mutex_unlock(&p->lock);
}

static void count(struct page *p) {
    p->hits++;
}

void leave(int i) {
    count(&pages[i]);
    pthread_mutex_unlock(&pages[i].lock);
}

long used(int i) {
    pthread_mutex_lock(&pages[i].lock);
    long n = pages[i].used - pages[i].hits;
    pthread_mutex_unlock(&pages[i].lock);
    return n;
}

void take_back(int i, int n) {
    pthread_mutex_lock(&pages[i].lock);
    pages[i].used -= n;
    pages[i].hits = 0;
    pthread_mutex_unlock(&pages[i].lock);
}
