// expect: nothing
//@ libs: -lsqlite3
// A connection in serialized mode has a mutex of its own and may be shared.
#include <pthread.h>
#include <sqlite3.h>
#include "work.h"

static sqlite3 *db;

static void *user(void *arg) {
    for (int i = 0; i < 180; i++) {
        work(4);
        if (sqlite3_exec(db, "update t set v = v + 1 where k = 1", 0, 0, 0) != SQLITE_OK) *(int *)arg = 1;
    }
    return 0;
}

int main(void) {
    pthread_t other;
    int one = 0, two = 0;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
    if (sqlite3_open_v2(":memory:", &db, flags, 0) != SQLITE_OK) return 1;
    sqlite3_exec(db, "create table t(k int, v int); insert into t values (1, 0), (2, 0)", 0, 0, 0);
    pthread_create(&other, 0, user, &one);
    user(&two);
    pthread_join(other, 0);
    sqlite3_close(db);
    return one + two;
}
