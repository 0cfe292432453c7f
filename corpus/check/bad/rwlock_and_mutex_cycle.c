// A mutex and a reader-writer lock in opposite orders.
#include <pthread.h>

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int table, stats;

static void *look_up(void *arg) {
    pthread_rwlock_rdlock(&table_lock);
    int t = table;
    pthread_mutex_lock(&stats_lock); // expect: deadlock #1
    stats += t;
    pthread_mutex_unlock(&stats_lock);
    pthread_rwlock_unlock(&table_lock);
    return NULL;
}

static void *update(void *arg) {
    pthread_mutex_lock(&stats_lock);
    pthread_rwlock_wrlock(&table_lock); // expect: deadlock #1
    table = stats;
    pthread_rwlock_unlock(&table_lock);
    pthread_mutex_unlock(&stats_lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, look_up, NULL);
    pthread_create(&b, NULL, update, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
